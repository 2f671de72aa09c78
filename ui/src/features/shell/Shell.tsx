import type { SessionView } from "../../generated/SessionView";
import type { Timed } from "../../ipc/reads";
import { EnrolmentPanel } from "../enrolment/EnrolmentPanel";
import { LeavingPanel } from "../leaving/LeavingPanel";
import { ReviewScreen } from "../review/ReviewScreen";
import { SyncScreen } from "../sync/SyncScreen";
import { type Screen, useFrame } from "./frame-store";
import { DeckPill, LeasePill, LinkPill } from "./HeaderPills";
import { Nav } from "./Nav";
import styles from "./Shell.module.css";
import { Shortcuts } from "./Shortcuts";
import { SignOutDialog } from "./SignOutDialog";
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
        <Body screen={screen} session={session} />
      </main>
      <Shortcuts />
      <SignOutDialog session={session.value} />
      <StatusAnnouncer session={session.value} />
    </div>
  );
}

function Body({ screen, session }: { screen: Screen; session: Timed<SessionView> }) {
  const { leaving, enrolment, deck_count } = session.value;
  if (leaving !== null) {
    return (
      <div className={styles.panels}>
        <LeavingPanel leaving={leaving} />
      </div>
    );
  }
  if (screen === "sync") return <SyncScreen session={session} />;
  // What was leased before can still be looked at.
  if (enrolment !== null && deck_count === 0) {
    return (
      <div className={styles.panels}>
        <EnrolmentPanel enrolment={enrolment} />
      </div>
    );
  }
  return <ReviewScreen session={session.value} />;
}
