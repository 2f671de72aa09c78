import { useState } from "react";
import { Button } from "react-aria-components";
import { Button as ActionButton } from "../../components/Button";
import { Window } from "../../components/Window";
import styles from "./KeysInFile.module.css";

/** A quiet word about where the keys are, for as long as they are there. */
export function KeysInFile() {
  const [shown, setShown] = useState(false);
  return (
    <>
      <Button className={styles.line} onPress={() => setShown(true)} data-testid="keys-in-file">
        Keys in a file
      </Button>
      {shown && (
        <Window title="Keys in a file" onClose={() => setShown(false)} data-testid="keys-dialog">
          <p>
            The keys of this workstation, which sign your decisions and decrypt what is stored here, are in a
            file that only your login can read, because this computer’s keyring did not answer or is not used.
          </p>
          <p>
            Who can read that file, such as an administrator or whoever has a backup of it, can read the
            journal and sign as this workstation. The keys move into the keyring by themselves when it answers
            at the next start.
          </p>
          <div className={styles.end}>
            <ActionButton autoFocus shortcut="Esc" onPress={() => setShown(false)}>
              Close
            </ActionButton>
          </div>
        </Window>
      )}
    </>
  );
}
