import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { HistoryEvent } from "../../generated/HistoryEvent";
import { useOutboxHistory } from "../../ipc/reads";
import styles from "./DecisionHistory.module.css";

/** What this workstation did for one decision, oldest first. */
export function DecisionHistory({ decision }: { decision: string }) {
  const history = useOutboxHistory(decision);
  if (history.error !== null) {
    return (
      <p className={styles.problem} role="alert">
        Its history cannot be read: {visibleText(history.error.message)}
      </p>
    );
  }
  if (history.data === undefined) return <p className={styles.faint}>Reading its history…</p>;
  if (history.data.length === 0) {
    return <p className={styles.faint}>Nothing is kept of what was done with it.</p>;
  }
  return (
    <ol className={styles.events} data-testid="outbox-history">
      {history.data.map((event, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the past does not change, and two events may be alike.
        <Event key={place} event={event} />
      ))}
    </ol>
  );
}

function Event({ event: { at, words, actor, facts } }: { event: HistoryEvent }) {
  const rest = [...(actor === null ? [] : [actor]), ...facts.map(({ label, value }) => `${label} ${value}`)];
  return (
    <li>
      <time dateTime={at}>{instantText(at, Date.now())}</time>
      <span>{visibleText(words)}</span>
      <span className={styles.faint}>{visibleText(rest.join(" · "))}</span>
    </li>
  );
}
