import { useRef, useState } from "react";
import { Button } from "../../components/Button";
import styles from "./ImportDialog.module.css";

interface ImportFileProps {
  busy: boolean;
  /** A file was read before: another one takes its place. */
  again: boolean;
  onFile: (file: File) => void;
}

/** A file is chosen by button, or dropped. */
export function ImportFile({ busy, again, onFile }: ImportFileProps) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button in it does the same
    <div
      className={styles.drop}
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file !== undefined && !busy) onFile(file);
      }}
      data-testid="import-drop"
    >
      {!again && (
        <p>An exported deck (XLSX or CSV) in which you have decided. Nothing is signed by reading it.</p>
      )}
      <Button isDisabled={busy} autoFocus onPress={() => input.current?.click()} data-testid="import-choose">
        {busy ? "Reading…" : again ? "Choose another file…" : "Choose a file…"}
      </Button>
      <input
        ref={input}
        className={styles.hidden}
        type="file"
        accept=".xlsx,.csv"
        aria-label="Spreadsheet with decisions"
        onChange={(event) => {
          const file = event.target.files?.[0];
          // The same file can be chosen again, after it was corrected.
          event.target.value = "";
          if (file !== undefined) onFile(file);
        }}
        data-testid="import-file"
      />
    </div>
  );
}
