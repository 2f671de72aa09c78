import { Amount } from "../../components/Amount";
import { visibleText } from "../../components/visible-text";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import styles from "./TotalsTable.module.css";

/** Longer amounts are drawn smaller, so that two of them fit beside each other. */
const LONG = 15;

/** Control totals by currency, what is signed by first. They come summed; nothing is added here. */
export function TotalsTable({ totals }: { totals: readonly CurrencyTotal[] }) {
  const long = totals.some(({ net, largest }) => Math.max(net.length, largest.length) > LONG);
  return (
    // What scrolls has to be in the tab order.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className={styles.frame} aria-label="Control totals" tabIndex={0}>
      <table className={styles.table} data-long={long}>
        <thead>
          <tr>
            <th scope="col">Currency</th>
            <th scope="col">Items</th>
            <th scope="col">Net</th>
            <th scope="col">Largest</th>
            <th scope="col">Debits</th>
            <th scope="col">Credits</th>
          </tr>
        </thead>
        <tbody>
          {totals.map(({ currency, minor_units, count, debits, credits, net, largest }) => (
            <tr key={currency}>
              <th scope="row">{visibleText(currency)}</th>
              <td data-label="Items">{count}</td>
              <td className={styles.net} data-label="Net">
                <Amount amount={net} minorUnits={minor_units} />
              </td>
              <td data-label="Largest">
                <Amount amount={largest} minorUnits={minor_units} />
              </td>
              <td data-label="Debits">
                <Amount amount={debits} minorUnits={minor_units} />
              </td>
              <td data-label="Credits">
                <Amount amount={credits} minorUnits={minor_units} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
