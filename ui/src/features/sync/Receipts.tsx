import { instantText } from "../../components/clock";
import { formatAmount } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { ReceiptRow } from "../../generated/ReceiptRow";
import { useReceipts } from "../../ipc/reads";
import styles from "./Receipts.module.css";

/** What the database says the latest calls came to, newest first. */
export function Receipts() {
  const receipts = useReceipts();
  if (receipts.error !== null) {
    return (
      <p className={styles.none} role="alert">
        The receipts cannot be read: {visibleText(receipts.error.message)}
      </p>
    );
  }
  if (receipts.data?.length === 0) {
    return (
      <p className={styles.none} data-testid="receipts-empty">
        No receipt since Countersign was started. The database gives one for each time that decisions are
        sent.
      </p>
    );
  }
  return (
    <div className={styles.frame}>
      <table className={styles.table} data-testid="receipts">
        <thead>
          <tr>
            <th scope="col">Receipt</th>
            <th scope="col">Server time</th>
            <th scope="col" className={styles.right}>
              Submitted
            </th>
            <th scope="col" className={styles.right}>
              = Committed
            </th>
            <th scope="col" className={styles.right}>
              + Refused
            </th>
            <th scope="col" className={styles.right}>
              + Duplicate
            </th>
            <th scope="col" className={styles.wide}>
              Net of what was accepted
            </th>
            <th scope="col" className={styles.wide}>
              Policy
            </th>
          </tr>
        </thead>
        <tbody>
          {receipts.data?.map((receipt) => (
            <Line key={receipt.number} receipt={receipt} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ receipt }: { receipt: ReceiptRow }) {
  const nets = receipt.nets.map((each) => `${each.currency} ${formatAmount(each.net, each.minor_units)}`);
  return (
    <tr data-testid={`receipt-${receipt.number}`}>
      <th scope="row">{visibleText(receipt.number)}</th>
      <td className={styles.faint}>{instantText(receipt.at, Date.now())}</td>
      <td className={styles.right}>{receipt.submitted}</td>
      <td className={styles.right}>{receipt.committed}</td>
      <td className={styles.right} data-some={receipt.refused > 0}>
        {receipt.refused}
      </td>
      <td className={styles.right}>{receipt.duplicate}</td>
      <td>{visibleText(nets.join(" · "))}</td>
      <td>
        {receipt.policy_version}
        {receipt.other_policy !== null && (
          <span className={styles.mark}> · {visibleText(receipt.other_policy)}</span>
        )}
      </td>
    </tr>
  );
}
