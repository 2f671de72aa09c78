import { useState } from "react";
import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { ImportGroup } from "../../generated/ImportGroup";
import type { ImportView } from "../../generated/ImportView";
import type { PolicyView } from "../../generated/PolicyView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { type Batch, useReview } from "../review/review-store";
import styles from "./ImportDialog.module.css";
import { ImportFile } from "./ImportFile";
import { ImportPreview } from "./ImportPreview";
import { SignDialog } from "./SignDialog";
import type { Draft } from "./use-draft";

/** 20 MB: a deck of 5,000 exceptions takes a tenth of it. */
const MOST_BYTES = 20_000_000;

/** Decisions that were made in a spreadsheet, on their way to the same dialog as all others. */
export function ImportDialog({ policy }: { policy: PolicyView | null }) {
  const open = useReview((state) => state.importOpen);
  return open ? <Import policy={policy} /> : null;
}

interface Chosen {
  name: string;
  bytes: Uint8Array;
}

function Import({ policy }: { policy: PolicyView | null }) {
  const ipc = useIpc();
  const close = useReview((state) => state.closeImport);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [view, setView] = useState<ImportView | null>(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [signing, setSigning] = useState<{ batch: Batch; brought: Draft } | null>(null);

  const read = async (file: Chosen) => {
    setBusy(true);
    setProblem("");
    try {
      setView(await ipc.readDecisions(file.name, file.bytes));
      setChosen(file);
    } catch (thrown) {
      setView(null);
      setProblem(toCommandError(thrown).message);
    }
    setBusy(false);
  };
  const take = async (file: File) => {
    if (file.size > MOST_BYTES) {
      setProblem(
        `${visibleText(file.name)} has ${file.size} bytes; at most ${MOST_BYTES} are read. Export the deck anew.`,
      );
      return;
    }
    const bytes = await file.arrayBuffer().catch(() => null);
    if (bytes === null) setProblem(`${visibleText(file.name)} cannot be read: is it still there?`);
    else await read({ name: file.name, bytes: new Uint8Array(bytes) });
  };
  const sign = ({ decision, ids, reason, comment }: ImportGroup) =>
    setSigning({
      batch: { opening: performance.now(), decision, ids: [...ids] },
      brought: { reason, comment: comment ?? "" },
    });
  if (signing !== null) {
    const back = () => {
      setSigning(null);
      // What was signed has left the deck: the same file comes to what is left.
      if (chosen !== null) void read(chosen);
    };
    return <SignDialog {...signing} policy={policy} onClose={back} />;
  }
  return (
    <Window title="Decisions from a spreadsheet" wide onClose={close} data-testid="import-dialog">
      <div className={styles.body}>
        <ImportFile busy={busy} again={view !== null} onFile={(file) => void take(file)} />
        {problem !== "" && (
          <p className={styles.problem} role="alert" data-testid="import-error">
            {visibleText(problem)}
          </p>
        )}
        {view !== null && <ImportPreview view={view} busy={busy} onSign={sign} />}
        <div className={styles.actions}>
          <Button onPress={close} shortcut="Esc" data-testid="import-close">
            Close
          </Button>
        </div>
      </div>
    </Window>
  );
}
