import { useState } from "react";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { visibleLines } from "../../components/visible-text";
import { Window } from "../../components/Window";
import { toCommandError, useIpc } from "../../ipc/ipc";
import styles from "./entries.module.css";
import type { Entry } from "./sections";

export function diagnosticsEntries(): Entry[] {
  return [{ id: "diagnostics", words: "copy diagnostics support versions state", shown: <Diagnostics /> }];
}

/** Nobody sends what they have not seen: the text is shown first. */
function Diagnostics() {
  const ipc = useIpc();
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const show = async () => {
    setProblem("");
    try {
      setText(await ipc.diagnostics());
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
    }
  };
  return (
    <>
      <Button onPress={() => void show()} data-testid="diagnostics">
        Copy diagnostics…
      </Button>
      <p className={styles.help}>
        Versions, settings and how everything is doing, for whoever helps you. No password, key or content of
        an exception is in it.
      </p>
      <p className={styles.problem} role="alert">
        {visibleLines(problem)}
      </p>
      {text !== null && (
        <Window title="Diagnostics" wide onClose={() => setText(null)} data-testid="diagnostics-dialog">
          <textarea
            className={styles.text}
            readOnly
            rows={16}
            value={visibleLines(text)}
            aria-label="Diagnostics, as they are copied"
          />
          <div className={styles.actions}>
            <Button shortcut="Esc" onPress={() => setText(null)}>
              Close
            </Button>
            <CopyButton look="plain" what="diagnostics" text={text} data-testid="diagnostics-copy" />
          </div>
        </Window>
      )}
    </>
  );
}
