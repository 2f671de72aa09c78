import { Button } from "../../components/Button";
import { Text } from "../../components/Text";
import { complain } from "../../components/toast-store";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import type { Timed } from "../../ipc/reads";
import { LeaseWarning } from "../offline/LeaseWarning";
import { useFrame } from "./frame-store";
import { KeysInFile } from "./KeysInFile";
import styles from "./Nav.module.css";
import { NavItem } from "./NavItem";
import { PeriodNote } from "./PeriodNote";

export function Nav({ session: { value: session, askedAtMs } }: { session: Timed<SessionView> }) {
  const ipc = useIpc();
  const askSignOut = useFrame((state) => state.askSignOut);
  const { attention, unsent, lease_warning_in_ms: warning } = session;
  return (
    <nav className={styles.nav} aria-label="Screens">
      <b className={styles.name}>Countersign</b>
      <NavItem
        screen="review"
        label="Review"
        counts={[{ count: session.deck_count, meaning: "in the deck" }]}
      />
      <NavItem screen="backlog" label="Backlog" />
      <NavItem
        screen="sync"
        label="Sync"
        counts={[
          { count: unsent, meaning: "not answered yet" },
          { count: attention, meaning: "refused or given up: they want attention", attention: true },
        ]}
      />
      {session.desk && <NavItem screen="letters" label="Dead letters" />}
      <NavItem screen="close" label="Close" />
      <span className={styles.space} />
      {warning !== null && <LeaseWarning deadlineMs={askedAtMs + warning} />}
      <NavItem screen="settings" label="Settings" />
      <div className={styles.leave}>
        <Button
          look="quiet"
          title="Sends what is unsent, gives undecided exceptions back, then closes"
          onPress={() => ipc.drain().catch((thrown) => complain(toCommandError(thrown).message))}
        >
          Finish and close
        </Button>
        {session.leaving === null && (
          <Button look="quiet" onPress={() => askSignOut(true)} data-testid="sign-out">
            Sign out…
          </Button>
        )}
      </div>
      <div className={styles.who} data-testid="who">
        {session.period !== null && <PeriodNote period={session.period} />}
        <Text text={session.reviewer ?? "not signed in"} />
        <Text text={session.workstation} />
        <Text text={`version ${session.app_version}`} />
        {session.keys_in_file && <KeysInFile />}
      </div>
    </nav>
  );
}
