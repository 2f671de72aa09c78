import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/Button";
import { counted } from "../../components/plural";
import { complain } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useFrame } from "./frame-store";
import styles from "./SignOutDialog.module.css";

export function SignOutDialog({ session }: { session: SessionView }) {
  const asked = useFrame((state) => state.signOutAsked);
  return asked ? <Question session={session} /> : null;
}

/** What signing out does, before it is done; then how it goes. */
function Question({ session }: { session: SessionView }) {
  const ipc = useIpc();
  const client = useQueryClient();
  const { askSignOut, workOffline, show } = useFrame();
  const [signingOut, setSigningOut] = useState(false);
  const [problem, setProblem] = useState("");

  const signOut = async () => {
    setSigningOut(true);
    setProblem("");
    try {
      const value = await ipc.signOut();
      workOffline(false);
      show("review");
      askSignOut(false);
      client.setQueryData(["session"], { value, askedAtMs: performance.now() });
      client.removeQueries({ predicate: ({ queryKey: [name] }) => name !== "session" });
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
      setSigningOut(false);
    }
  };

  return (
    <Window
      title={signingOut ? "Signing out" : "Sign out"}
      role="alertdialog"
      onClose={signingOut ? undefined : () => askSignOut(false)}
      data-testid="sign-out-dialog"
    >
      <ul className={styles.list}>
        {consequences(session).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <p className={styles.problem} role="alert">
        {visibleText(problem)}
      </p>
      <div className={styles.actions}>
        {signingOut ? (
          <>
            <span className={styles.state} role="status">
              {session.unsent > 0 ? "Sending what is unsent…" : "Clearing this computer…"}
            </span>
            <Button
              onPress={() => ipc.stopWaiting().catch((thrown) => complain(toCommandError(thrown).message))}
              data-testid="stop-waiting"
            >
              Do not wait
            </Button>
          </>
        ) : (
          <>
            <Button autoFocus shortcut="Esc" onPress={() => askSignOut(false)}>
              Cancel
            </Button>
            <Button look="primary" onPress={() => void signOut()} data-testid="sign-out-confirm">
              Sign out
            </Button>
          </>
        )}
      </div>
    </Window>
  );
}

function consequences({ link, deck_count: deck, unsent, dead }: SessionView): string[] {
  const leases = `${counted(deck, "undecided exception")} ${deck === 1 ? "goes" : "go"} back to your colleagues`;
  const left = unsent + dead;
  return [
    link.online ? `${leases} at once.` : `${leases} when the leases lapse: you are offline.`,
    "What is leased and what is answered is removed from this computer.",
    left === 0
      ? "No decision is unsent."
      : `${counted(left, "decision")} ${left === 1 ? "is" : "are"} unsent: what cannot be sent now stays here, encrypted, until you sign in again.`,
    "The password is forgotten in this computer’s keyring.",
  ];
}
