import { Amount } from "../../components/Amount";
import { visibleText } from "../../components/visible-text";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import styles from "./TotalsTable.module.css";

/** Control totals by currency. They come summed; nothing is added here. */
export function TotalsTable({ totals }: { totals: readonly CurrencyTotal[] }) {
  return (
    <div className={styles.frame}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Currency</th>
            <th scope="col">Items</th>
            <th scope="col">Debits</th>
            <th scope="col">Credits</th>
            <th scope="col">Net</th>
            <th scope="col">Largest</th>
          </tr>
        </thead>
        <tbody>
          {totals.map(({ currency, minor_units, count, debits, credits, net, largest }) => (
            <tr key={currency}>
              <th scope="row">{visibleText(currency)}</th>
              <td>{count}</td>
              <td>
                <Amount amount={debits} minorUnits={minor_units} />
              </td>
              <td>
                <Amount amount={credits} minorUnits={minor_units} />
              </td>
              <td className={styles.net}>
                <Amount amount={net} minorUnits={minor_units} />
              </td>
              <td>
                <Amount amount={largest} minorUnits={minor_units} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
