import type { SessionView } from "../../generated/SessionView";
import type { Timed } from "../../ipc/reads";
import { ReviewScreen } from "../review/ReviewScreen";
import { SyncScreen } from "../sync/SyncScreen";
import { useFrame } from "./frame-store";
import { DeckPill, LeasePill, LinkPill } from "./HeaderPills";
import { Nav } from "./Nav";
import styles from "./Shell.module.css";
import { Shortcuts } from "./Shortcuts";
import { StatusAnnouncer } from "./StatusAnnouncer";

/** The frame around the screens: where to go on the left, how the workstation is doing on top. */
export function Shell({ session }: { session: Timed<SessionView> }) {
  const screen = useFrame((state) => state.screen);
  return (
    <div className={styles.shell}>
      <Nav session={session.value} />
      <main className={styles.main}>
        <header className={styles.header}>
          <h1 className={styles.title}>{screen === "review" ? "Review" : "Sync"}</h1>
          <DeckPill session={session.value} />
          <span className={styles.space} />
          <LeasePill session={session} />
          <LinkPill session={session} />
        </header>
        {screen === "review" ? <ReviewScreen session={session.value} /> : <SyncScreen session={session} />}
      </main>
      <Shortcuts />
      <StatusAnnouncer session={session.value} />
    </div>
  );
}
