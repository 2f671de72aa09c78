import { visibleLines, visibleText } from "../../components/visible-text";
import type { LetterChange } from "../../generated/LetterChange";
import styles from "./Difference.module.css";

/** What came and what it is now, below each other, marked by a sign as well as by colour. */
export function Difference({
  changes,
  "data-testid": testId,
}: {
  changes: readonly LetterChange[];
  "data-testid": string;
}) {
  return (
    <dl className={styles.changes} data-testid={testId}>
      {changes.map(({ path, before, after }) => (
        <div key={path}>
          <dt>{path === "" ? "The text" : visibleText(path)}</dt>
          <dd>
            <del>
              <span aria-hidden="true">− </span>
              {before === null ? "not there" : before === "" ? "empty" : visibleLines(before)}
            </del>
            <ins>
              <span aria-hidden="true">+ </span>
              {after === null ? "taken out" : after === "" ? "empty" : visibleLines(after)}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
