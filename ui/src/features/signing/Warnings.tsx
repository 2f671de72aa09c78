import { visibleText } from "../../components/visible-text";
import type { SignWarning } from "../../generated/SignWarning";
import styles from "./SignDialog.module.css";

/** What to think about before it is signed. It hinders nothing. */
export function Warnings({ warnings }: { warnings: readonly SignWarning[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul className={styles.warnings} aria-label="Before you sign" data-testid="sign-warnings">
      {warnings.map(({ kind, message }) => (
        <li key={`${kind} ${message}`} data-kind={kind}>
          {visibleText(message)}
        </li>
      ))}
    </ul>
  );
}
