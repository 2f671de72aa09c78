import { useMemo } from "react";
import { ageText, instantText } from "../../components/clock";
import { counted } from "../../components/plural";
import { useRovingList } from "../../components/roving-list";
import { visibleText } from "../../components/visible-text";
import type { LetterCause } from "../../generated/LetterCause";
import styles from "./CauseList.module.css";
import { amountText } from "./letter-text";
import { useLetterDesk } from "./letters-store";

/** The key of the line that stands for every cause; no cause is called that. */
const ALL = "";

/** Why letters are dead, the most frequent first: Enter shows the letters of a cause. */
export function CauseList({ causes, chosen }: { causes: readonly LetterCause[]; chosen: string | null }) {
  const { choose, focusRows } = useLetterDesk.getState();
  const keys = useMemo(() => [ALL, ...causes.map(({ cause }) => cause)], [causes]);
  const open = (key: string) => {
    choose(key === ALL ? null : key);
    requestAnimationFrame(focusRows);
  };
  const { container, current } = useRovingList(keys, { Enter: open, ArrowRight: open });
  const letters = causes.reduce((sum, { open: some, taken }) => sum + some + taken, 0);
  return (
    <nav className={styles.frame} aria-label="Causes" data-testid="causes">
      <div ref={container}>
        <ul className={styles.list}>
          <li>
            <button
              type="button"
              className={styles.cause}
              data-item={ALL}
              tabIndex={current === ALL ? 0 : -1}
              aria-current={chosen === null}
              onClick={() => choose(null)}
              data-testid="cause-all"
            >
              <span className={styles.words}>All causes</span>
              <b>{letters}</b>
            </button>
          </li>
          {causes.map((cause) => (
            <li key={cause.cause}>
              <Cause
                cause={cause}
                chosen={cause.cause === chosen}
                current={cause.cause === current}
                onChoose={() => choose(cause.cause)}
              />
            </li>
          ))}
        </ul>
      </div>
    </nav>
  );
}

interface CauseProps {
  cause: LetterCause;
  chosen: boolean;
  current: boolean;
  onChoose: () => void;
}

function Cause({ cause, chosen, current, onChoose }: CauseProps) {
  const { cause: name, words, open, taken, oldest, at_risk, without_amount } = cause;
  return (
    <button
      type="button"
      className={styles.cause}
      data-item={name}
      tabIndex={current ? 0 : -1}
      aria-current={chosen}
      onClick={onChoose}
      data-testid={`cause-${name}`}
    >
      <span className={styles.words}>{visibleText(words)}</span>
      <b>
        {open + taken}
        <span className={styles.spoken}> letters</span>
      </b>
      <span className={styles.facts}>
        {oldest !== null && (
          <span title={`The oldest came first on ${instantText(oldest, 0)}`}>
            oldest {ageText(oldest, Date.now())}
          </span>
        )}
        {taken > 0 && <span>{taken} taken</span>}
      </span>
      {(at_risk.length > 0 || without_amount > 0) && (
        <span className={styles.risk} title="What the close lacks, as far as it can be read">
          {at_risk.map((each) => (
            <span key={each.currency}>{visibleText(amountText(each))}</span>
          ))}
          {without_amount > 0 && (
            <span className={styles.without}>{counted(without_amount, "amount")} cannot be read</span>
          )}
        </span>
      )}
    </button>
  );
}
