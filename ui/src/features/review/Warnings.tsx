import { useState } from "react";
import { Button } from "../../components/Button";
import { visibleLines } from "../../components/visible-text";
import styles from "./Warnings.module.css";

/** What the workstation wants to be known, whole, until it is dismissed; About keeps it. */
export function Warnings({ warnings }: { warnings: readonly string[] }) {
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());
  const shown = [...new Set(warnings)].filter((warning) => !dismissed.has(warning));
  return (
    <div className={styles.warnings} role="status" data-testid="warnings">
      {shown.map((warning) => (
        <div key={warning} className={styles.warning}>
          <span className={styles.words}>{visibleLines(warning)}</span>
          <Button look="quiet" onPress={() => setDismissed(new Set([...dismissed, warning]))}>
            Dismiss
          </Button>
        </div>
      ))}
    </div>
  );
}
