import { visibleText } from "../../components/visible-text";
import type { ConnectionTest } from "../../generated/ConnectionTest";
import type { TestState } from "../../generated/TestState";
import styles from "./ConnectionLines.module.css";

/** A sign and a word for each state: colour alone would not do. */
const STATES: Record<TestState, { sign: string; word: string }> = {
  PASSED: { sign: "✓", word: "Good" },
  WARNED: { sign: "!", word: "Look" },
  FAILED: { sign: "✕", word: "Failed" },
  SKIPPED: { sign: "–", word: "Not tried" },
};

/** What trying a connection found, a line for each step, with what to do. */
export function ConnectionLines({ test }: { test: ConnectionTest }) {
  return (
    <ol className={styles.lines} data-testid="connection-lines">
      {test.lines.map(({ step, label, state, message, remedy }) => (
        <li key={step} data-state={state} data-testid={`connection-${step}`}>
          <span className={styles.state}>
            <i aria-hidden="true">{STATES[state].sign}</i> {STATES[state].word}
          </span>
          <span>{visibleText(label)}</span>
          <span className={styles.found}>
            {visibleText(message)}
            {remedy !== null && <b> {visibleText(remedy)}</b>}
          </span>
        </li>
      ))}
    </ol>
  );
}
