import { Amount } from "../../components/Amount";
import { Button } from "../../components/Button";
import { instantText, withOwnInstants } from "../../components/clock";
import { Text } from "../../components/Text";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { OutboxRow } from "../../generated/OutboxRow";
import styles from "./Attention.module.css";
import { DecisionHistory } from "./DecisionHistory";
import { DECISION_WORDS, STATE_WORDS, STEP_WORDS, subject } from "./outbox-words";

interface AttentionRowProps {
  row: OutboxRow;
  current: boolean;
  open: boolean;
  onNext: () => void;
  onPutAway: () => void;
  onSeen: () => void;
}

/** Both decisions side by side, and what is safe to do next. */
export function AttentionRow({ row, current, open, onNext, onPutAway, onSeen }: AttentionRowProps) {
  const { state, next_step: step, theirs } = row;
  // What was given up is on this computer alone: it is sent again, never put away.
  const canPutAway = state === "REFUSED" && step !== "PUT_AWAY" && step !== "NOTHING";
  const words = state === "DEAD" && step !== "ASK_SUPERVISOR" ? STEP_WORDS.SEND_AGAIN : STEP_WORDS[step];
  return (
    <>
      <tr data-seen={row.key} data-state={state} data-testid={`attention-${row.exception_id}`}>
        <td>
          <Text text={row.counterparty} />
          <span className={styles.second}>
            <Text text={row.entity} />
            <span className={styles.amount}>
              <Amount amount={row.amount} minorUnits={row.minor_units} /> {row.currency}
            </span>
          </span>
        </td>
        <td>
          <b>{DECISION_WORDS[row.decision]}</b>
          {row.reason !== null && <span> · {visibleText(row.reason)}</span>}
          <span className={styles.faint}> · {instantText(row.decided_at, Date.now())}</span>
          {row.comment !== null && <q className={styles.comment}>{visibleLines(row.comment)}</q>}
        </td>
        <td>
          {theirs === null ? (
            <b className={styles.state}>{STATE_WORDS[state]}</b>
          ) : (
            <span className={styles.theirs}>
              <b>{DECISION_WORDS[theirs.decision]}</b> by {visibleText(theirs.reviewer)}
              <span className={styles.faint}> · {instantText(theirs.at, Date.now())}</span>
            </span>
          )}
          <span className={styles.why}>
            {visibleText(withOwnInstants(row.message ?? "The server gave no reason.", Date.now()))}
          </span>
        </td>
        <td>
          <div className={styles.actions}>
            <button
              type="button"
              className={styles.next}
              data-item={row.key}
              tabIndex={current ? 0 : -1}
              aria-label={`${words}: ${subject(row)}`}
              onFocus={onSeen}
              onClick={onNext}
            >
              {words} <kbd>↵</kbd>
            </button>
            {canPutAway && (
              <Button look="quiet" shortcut="P" excludeFromTabOrder={!current} onPress={onPutAway}>
                Put away
              </Button>
            )}
          </div>
        </td>
      </tr>
      {open && (
        <tr className={styles.opened}>
          <td colSpan={4}>
            <DecisionHistory decision={row.key} />
          </td>
        </tr>
      )}
    </>
  );
}
