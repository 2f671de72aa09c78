import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import panel from "../../components/panel.module.css";
import { visibleText } from "../../components/visible-text";
import type { ExportView } from "../../generated/ExportView";
import styles from "./LeavingPanel.module.css";

interface ExportStepProps {
  found: ExportView | null;
  busy: boolean;
  onExport: () => void;
}

/** Unsent decisions go into a file, for whoever sends them or proves that they were made. */
export function ExportStep({ found, busy, onExport }: ExportStepProps) {
  return (
    <div className={styles.step}>
      <div className={panel.actions}>
        <Button onPress={onExport} isDisabled={busy} data-testid="export-outbox">
          {found === null ? "Export unsent decisions…" : "Export again…"}
        </Button>
        <span className={panel.hint}>The file is readable for you alone and not encrypted.</span>
      </div>
      {found !== null && (
        <dl className={`${panel.facts} ${styles.exported}`} data-testid="exported">
          <div>
            <dt>File</dt>
            <dd>
              <span>{visibleText(found.path)}</span>
              <CopyButton what="path" text={found.path} />
            </dd>
          </div>
          <div>
            <dt>Decisions</dt>
            <dd>{found.count}</dd>
          </div>
          <div>
            <dt>SHA-256</dt>
            <dd>
              <span>{visibleText(found.sha256)}</span>
              <CopyButton what="digest" text={found.sha256} />
            </dd>
          </div>
        </dl>
      )}
    </div>
  );
}
