import { Amount } from "../../components/Amount";
import { visibleText } from "../../components/visible-text";
import type { BatchView } from "../../generated/BatchView";
import styles from "./BatchReceipt.module.css";

/** What was signed against what was accepted, by currency. Both come summed. */
export function ReceiptTotals({ view }: { view: BatchView }) {
  const accepted = new Map(view.accepted.map((total) => [total.currency, total]));
  return (
    <div className={styles.frame}>
      <table className={styles.table} aria-label="Control totals" data-testid="receipt-totals">
        <thead>
          <tr>
            <th scope="col">Currency</th>
            <th scope="col">Signed</th>
            <th scope="col">Net signed</th>
            <th scope="col">Accepted</th>
            <th scope="col">Net accepted</th>
          </tr>
        </thead>
        <tbody>
          {view.totals.map((signed) => {
            const so = accepted.get(signed.currency);
            const differs = so?.net !== signed.net || so.count !== signed.count;
            return (
              <tr key={signed.currency}>
                <th scope="row">{visibleText(signed.currency)}</th>
                <td>{signed.count}</td>
                <td>
                  <Amount amount={signed.net} minorUnits={signed.minor_units} />
                </td>
                <td data-differs={differs}>{so?.count ?? 0}</td>
                <td data-differs={differs}>
                  {so === undefined ? "none yet" : <Amount amount={so.net} minorUnits={so.minor_units} />}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
