import { memo } from "react";
import { Amount } from "../../components/Amount";
import { Button } from "../../components/Button";
import { instantText } from "../../components/clock";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import type { OutboxRow } from "../../generated/OutboxRow";
import styles from "./OutboxTable.module.css";
import { STATE_WORDS } from "./outbox-words";

interface OutboxTableProps {
  /** `null` until they are read. */
  rows: readonly OutboxRow[] | null;
  onRetry: (key: string) => void;
  onDismiss: (key: string) => void;
}

export function OutboxTable({ rows, onRetry, onDismiss }: OutboxTableProps) {
  return (
    <div className={styles.frame}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Counterparty</th>
            <th scope="col">Entity</th>
            <th scope="col" className={styles.right}>
              Variance
            </th>
            <th scope="col" className={styles.currency}>
              Cur
            </th>
            <th scope="col" className={styles.decision}>
              Decision
            </th>
            <th scope="col" className={styles.instant}>
              Decided at
            </th>
            <th scope="col" className={styles.state}>
              State
            </th>
            <th scope="col" className={styles.wide}>
              Answer
            </th>
            <th scope="col" className={styles.attempts}>
              Attempts
            </th>
            <th scope="col" className={styles.action}>
              <span className={styles.spoken}>Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows?.map((row) => (
            <Line key={row.key} row={row} onRetry={onRetry} onDismiss={onDismiss} />
          ))}
        </tbody>
      </table>
      {rows?.length === 0 && <p className={styles.none}>No decision has been made on this computer yet.</p>}
    </div>
  );
}

interface LineProps {
  row: OutboxRow;
  onRetry: (key: string) => void;
  onDismiss: (key: string) => void;
}

/**
 * Rows keep their identity while they do not change, so that five hundred of them cost little when one does. The callbacks are new
 * with every draw and do the same.
 */
const Line = memo(
  function Line({ row, onRetry, onDismiss }: LineProps) {
    const attention = row.state === "REFUSED" || row.state === "DEAD";
    const answer = row.message ?? "";
    return (
      <tr data-state={row.state} data-testid={`outbox-${row.exception_id}`}>
        <td>
          <Text text={row.counterparty} />
        </td>
        <td>
          <Text text={row.entity} />
        </td>
        <td className={styles.right}>
          <Amount amount={row.amount} minorUnits={row.minor_units} />
        </td>
        <td className={styles.faint}>{row.currency}</td>
        <td>{row.decision === "APPROVE" ? "Approve" : "Reject"}</td>
        <td className={`${styles.faint} ${styles.when}`}>{instantText(row.decided_at, Date.now())}</td>
        <td className={styles.word}>{STATE_WORDS[row.state]}</td>
        <td className={attention ? styles.full : undefined}>
          {attention ? visibleText(answer) : <Text text={answer} />}
        </td>
        <td className={styles.right}>{row.attempts === 0 ? "" : row.attempts}</td>
        <td>
          {row.state === "DEAD" && (
            <Button look="quiet" onPress={() => onRetry(row.key)}>
              Retry
            </Button>
          )}
          {row.state === "REFUSED" && (
            <Button look="quiet" onPress={() => onDismiss(row.key)}>
              Dismiss
            </Button>
          )}
        </td>
      </tr>
    );
  },
  (before, after) => before.row === after.row,
);
