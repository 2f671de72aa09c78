import { formatDecimal } from "../../components/money";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { DetailView } from "../../generated/DetailView";
import type { EvidenceField } from "../../generated/EvidenceField";
import styles from "./Evidence.module.css";

/** Both sides, field by field. A difference is marked by a sign and a colour, and named for a screen reader. */
export function Evidence({ view }: { view: DetailView }) {
  return (
    <>
      <table className={styles.table}>
        <thead>
          <tr>
            <td />
            <th scope="col">{visibleText(view.left_title)}</th>
            <th scope="col">{visibleText(view.right_title)}</th>
          </tr>
        </thead>
        <tbody>
          {view.evidence.map((field) => (
            <tr key={field.label}>
              <th scope="row">
                {visibleText(field.label)}
                {field.differs && <span aria-hidden="true"> ≠</span>}
              </th>
              <Side field={field} value={field.left} />
              <Side field={field} value={field.right} />
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.sum}>{comparisonWords(view)}</p>
    </>
  );
}

/** Two sides agree only where there are two. */
function comparisonWords({ evidence, left_title, right_title }: DetailView): string {
  const leftMissing = evidence.every(({ left }) => left === null);
  const rightMissing = evidence.every(({ right }) => right === null);
  if (leftMissing && rightMissing) return "There is nothing to compare.";
  if (leftMissing || rightMissing) {
    return `Nothing on the “${visibleText(leftMissing ? left_title : right_title)}” side to compare with.`;
  }
  const differing = evidence.filter(({ differs }) => differs).length;
  if (differing === 0) return "Both sides agree.";
  return `${differing} of ${counted(evidence.length, "field")} ${differing === 1 ? "differs" : "differ"}, marked ≠.`;
}

/** More characters than this scroll in their own place, so that they do not push everything else away. */
const LONG = 240;

function Side({ field, value }: { field: EvidenceField; value: string | null }) {
  const long = (value?.length ?? 0) > LONG;
  return (
    <td data-differs={field.differs} data-numeric={field.numeric && value !== null}>
      {field.differs && <span className={styles.spoken}>differs: </span>}
      {/* What scrolls has to be in the tab order. */}
      <span data-long={long} tabIndex={long ? 0 : undefined}>
        {value === null ? "none" : visibleText(field.numeric ? formatDecimal(value) : value)}
      </span>
    </td>
  );
}
