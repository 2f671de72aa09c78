import { Button } from "../../components/Button";
import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { BatchRow } from "../../generated/BatchRow";
import { useBatches } from "../../ipc/reads";
import styles from "./BatchList.module.css";
import { PARTS } from "./parts";
import { useReceiptDialog } from "./receipt-store";
import { useBatchActions } from "./use-batch-actions";

/** The confirmations of this workstation, newest first, and what has become of each. */
export function BatchList() {
  const batches = useBatches();
  if (batches.error !== null) {
    return (
      <p className={styles.none} role="alert">
        The confirmations cannot be read: {visibleText(batches.error.message)}
      </p>
    );
  }
  if (batches.data === undefined) return <p className={styles.none}>Reading…</p>;
  if (batches.data.length === 0) {
    return (
      <p className={styles.none} data-testid="batches-empty">
        Nothing has been signed on this computer yet. Each confirmation is listed here with its receipt.
      </p>
    );
  }
  return (
    <div className={styles.frame}>
      <table className={styles.table} data-testid="batches" aria-label="Confirmations">
        <thead>
          <tr>
            <th scope="col">Signed at</th>
            <th scope="col">Decision</th>
            <th scope="col" className={styles.right}>
              Signed
            </th>
            <th scope="col" className={styles.right}>
              = Committed
            </th>
            <th scope="col" className={styles.right}>
              + Held
            </th>
            <th scope="col" className={styles.right}>
              + Awaiting second
            </th>
            <th scope="col" className={styles.right}>
              + Refused
            </th>
            <th scope="col" className={styles.right}>
              + Waiting
            </th>
            <th scope="col">
              <span className={styles.spoken}>Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {batches.data.map((row) => (
            <Line key={row.batch} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ row }: { row: BatchRow }) {
  const open = useReceiptDialog((state) => state.open);
  const { takeBack } = useBatchActions();
  const at = instantText(row.decided_at, Date.now());
  return (
    <tr data-testid={`batch-${row.batch}`}>
      <th scope="row">{at}</th>
      <td>{row.decision === "APPROVE" ? "Approve" : "Reject"}</td>
      <td className={styles.right}>{row.signed}</td>
      {PARTS.map((part) => (
        <td key={part} className={styles.right} data-part={part} data-some={row[part] > 0}>
          {row[part]}
        </td>
      ))}
      <td>
        <span className={styles.actions}>
          {row.unsent > 0 && (
            <Button
              look="quiet"
              aria-label={`Take back ${row.unsent} unsent of ${at}`}
              onPress={() => void takeBack(row.batch)}
              data-testid={`take-back-${row.batch}`}
            >
              Take back {row.unsent} unsent
            </Button>
          )}
          <Button
            look="quiet"
            aria-label={`Receipt of ${at}`}
            onPress={() => open(row.batch)}
            data-testid={`open-receipt-${row.batch}`}
          >
            Receipt
          </Button>
        </span>
      </td>
    </tr>
  );
}
