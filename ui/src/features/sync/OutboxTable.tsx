import { memo, useCallback, useMemo, useState } from "react";
import { Amount } from "../../components/Amount";
import { Button } from "../../components/Button";
import { instantText, withOwnInstants } from "../../components/clock";
import { useRovingList } from "../../components/roving-list";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import type { OutboxRow } from "../../generated/OutboxRow";
import { DecisionHistory } from "./DecisionHistory";
import { OutboxHead } from "./OutboxHead";
import styles from "./OutboxTable.module.css";
import { DECISION_WORDS, STATE_WORDS, subject, wantsAttention } from "./outbox-words";

interface OutboxTableProps {
  /** `null` until they are read. */
  rows: readonly OutboxRow[] | null;
  onRetry: (key: string) => void;
  onDismiss: (key: string) => void;
}

const NONE: readonly OutboxRow[] = [];

/** Every decision and what became of it; Enter opens what was done for it. */
export function OutboxTable({ rows, onRetry, onDismiss }: OutboxTableProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const all = rows ?? NONE;
  const keys = useMemo(() => all.map(({ key }) => key), [all]);
  const toggle = useCallback((key: string) => {
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);
  const stateOf = (key: string) => all.find((row) => row.key === key)?.state;
  const { container, current } = useRovingList(keys, {
    Enter: toggle,
    s: (key) => stateOf(key) === "DEAD" && onRetry(key),
    p: (key) => stateOf(key) === "REFUSED" && onDismiss(key),
  });
  return (
    <div className={styles.frame} ref={container}>
      <table className={styles.table} aria-label="Decisions made on this computer">
        <OutboxHead />
        <tbody>
          {all.map((row) => (
            <Line
              key={row.key}
              row={row}
              current={row.key === current}
              open={opened.has(row.key)}
              onToggle={toggle}
              onRetry={onRetry}
              onDismiss={onDismiss}
            />
          ))}
        </tbody>
      </table>
      {rows?.length === 0 && <p className={styles.none}>No decision has been made on this computer yet.</p>}
    </div>
  );
}

interface LineProps {
  row: OutboxRow;
  current: boolean;
  open: boolean;
  onToggle: (key: string) => void;
  onRetry: (key: string) => void;
  onDismiss: (key: string) => void;
}

/**
 * Rows keep their identity while they do not change, so that five hundred of them cost little when one does. The callbacks are new
 * with every draw and do the same.
 */
const Line = memo(
  function Line({ row, current, open, onToggle, onRetry, onDismiss }: LineProps) {
    const attention = wantsAttention(row);
    const answer = withOwnInstants(row.message ?? "", Date.now());
    return (
      <>
        <tr data-state={row.state} data-testid={`outbox-${row.exception_id}`}>
          <td>
            <button
              type="button"
              className={styles.disclosure}
              data-item={row.key}
              tabIndex={current ? 0 : -1}
              aria-expanded={open}
              aria-label={`History of ${subject(row)}`}
              onClick={() => onToggle(row.key)}
            >
              <i aria-hidden="true">{open ? "▾" : "▸"}</i>
              <Text text={row.counterparty} />
            </button>
          </td>
          <td className={styles.entity}>
            <Text text={row.entity} />
          </td>
          <td className={styles.right}>
            <Amount amount={row.amount} minorUnits={row.minor_units} />
          </td>
          <td className={styles.faint}>{row.currency}</td>
          <td>{DECISION_WORDS[row.decision]}</td>
          <td className={`${styles.faint} ${styles.when}`}>{instantText(row.decided_at, Date.now())}</td>
          <td className={styles.word}>
            {STATE_WORDS[row.state]}
            {row.attempts > 0 && (
              <span title="Attempts that were answered with trouble"> · {row.attempts}×</span>
            )}
          </td>
          <td className={attention ? styles.full : undefined}>
            {attention ? visibleText(answer) : <Text text={answer} />}
          </td>
          <td>
            {row.state === "DEAD" && (
              <Button
                look="quiet"
                shortcut="S"
                excludeFromTabOrder={!current}
                onPress={() => onRetry(row.key)}
              >
                Retry
              </Button>
            )}
            {row.state === "REFUSED" && (
              <Button
                look="quiet"
                shortcut="P"
                excludeFromTabOrder={!current}
                onPress={() => onDismiss(row.key)}
              >
                Put away
              </Button>
            )}
          </td>
        </tr>
        {open && (
          <tr className={styles.opened}>
            <td colSpan={9}>
              {/* In full, and with what a narrow window has no column for. */}
              <p className={styles.subject}>
                {visibleText(row.counterparty)} · {visibleText(row.entity)}
              </p>
              <DecisionHistory decision={row.key} />
            </td>
          </tr>
        )}
      </>
    );
  },
  (before, after) =>
    before.row === after.row && before.current === after.current && before.open === after.open,
);
