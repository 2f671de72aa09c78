import { formatDecimal } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { CalculationLine } from "../../generated/CalculationLine";
import styles from "./Detail.module.css";

/** How a claim's amount comes about. The workstation calculates; here it is only written out. */
export function Calculation({ lines }: { lines: readonly CalculationLine[] }) {
  return (
    <table className={styles.calculation} data-testid="calculation">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Working</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ label, working, result }) => (
          <tr key={`${label} ${working}`}>
            <th scope="row">{visibleText(label)}</th>
            <td>{visibleText(working)}</td>
            <td>= {visibleText(formatDecimal(result))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
