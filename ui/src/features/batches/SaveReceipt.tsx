import { useState } from "react";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { visibleText } from "../../components/visible-text";
import type { ReceiptFormat } from "../../generated/ReceiptFormat";
import { toCommandError, useIpc } from "../../ipc/ipc";
import styles from "./BatchReceipt.module.css";

const FORMATS: readonly ReceiptFormat[] = ["PDF", "CSV", "JSON"];

interface SaveReceiptProps {
  batch: string;
  onClose: () => void;
}

/** Writes the receipt into a file, and says where it is. */
export function SaveReceipt({ batch, onClose }: SaveReceiptProps) {
  const ipc = useIpc();
  const [busy, setBusy] = useState(false);
  const [path, setPath] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const save = async (format: ReceiptFormat) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      setPath((await ipc.saveBatch(batch, format)).path);
    } catch (thrown) {
      setPath(null);
      setProblem(toCommandError(thrown).message);
    }
    setBusy(false);
  };
  return (
    <>
      <p className={styles.saved} role="status" data-bad={problem !== null} data-testid="receipt-saved">
        {problem !== null && visibleText(problem)}
        {path !== null && (
          <>
            <span>Saved as {visibleText(path)}</span>
            <CopyButton what="path" text={path} />
          </>
        )}
      </p>
      <div className={styles.actions}>
        {FORMATS.map((format) => (
          <Button
            key={format}
            isBusy={busy}
            onPress={() => void save(format)}
            data-testid={`save-receipt-${format.toLowerCase()}`}
          >
            Save as {format}
          </Button>
        ))}
        <span className={styles.space} />
        <Button look="primary" autoFocus shortcut="Esc" onPress={onClose} data-testid="receipt-close">
          Close
        </Button>
      </div>
    </>
  );
}
