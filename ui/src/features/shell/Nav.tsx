import { Button } from "react-aria-components";
import { Button as ActionButton } from "../../components/Button";
import { Text } from "../../components/Text";
import { complain } from "../../components/toast-store";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { type Screen, useFrame } from "./frame-store";
import { KeysInFile } from "./KeysInFile";
import styles from "./Nav.module.css";

export function Nav({ session }: { session: SessionView }) {
  const ipc = useIpc();
  const askSignOut = useFrame((state) => state.askSignOut);
  const { attention, unsent } = session;
  return (
    <nav className={styles.nav} aria-label="Screens">
      <b className={styles.name}>Countersign</b>
      <NavItem screen="review" label="Review">
        <em>{session.deck_count}</em>
      </NavItem>
      <NavItem screen="sync" label="Sync">
        {unsent > 0 && <em title={`${unsent} not answered yet`}>{unsent}</em>}
        {attention > 0 && (
          <em className={styles.attention} title={`${attention} refused or given up: they want attention`}>
            {attention} !
          </em>
        )}
      </NavItem>
      <span className={styles.space} />
      <ActionButton
        look="quiet"
        title="Sends what is unsent, gives undecided exceptions back, then closes"
        onPress={() => ipc.drain().catch((thrown) => complain(toCommandError(thrown).message))}
      >
        Finish and close
      </ActionButton>
      {session.leaving === null && (
        <ActionButton look="quiet" onPress={() => askSignOut(true)} data-testid="sign-out">
          Sign out…
        </ActionButton>
      )}
      <div className={styles.who}>
        <Text text={session.reviewer ?? "not signed in"} />
        <Text text={session.workstation} />
        <Text text={`version ${session.app_version}`} />
        {session.keys_in_file && <KeysInFile />}
      </div>
    </nav>
  );
}

function NavItem({ screen, label, children }: { screen: Screen; label: string; children: React.ReactNode }) {
  const shown = useFrame((state) => state.screen === screen);
  const show = useFrame((state) => state.show);
  return (
    <Button
      className={styles.item}
      aria-current={shown ? "page" : undefined}
      data-testid={`nav-${screen}`}
      onPress={() => show(screen)}
    >
      <span>{label}</span>
      <span className={styles.counts}>{children}</span>
    </Button>
  );
}
