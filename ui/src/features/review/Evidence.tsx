import { formatDecimal } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { DetailView } from "../../generated/DetailView";
import type { EvidenceField } from "../../generated/EvidenceField";
import styles from "./Evidence.module.css";

/** Both sides, field by field. A difference is marked by colour and named for a screen reader. */
export function Evidence({ view }: { view: DetailView }) {
  if (view.evidence.length === 0) return null;
  return (
    <section className={styles.card}>
      <h3>
        {visibleText(view.left_title)} and {visibleText(view.right_title).toLowerCase()}
      </h3>
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
              <th scope="row">{visibleText(field.label)}</th>
              <Side field={field} value={field.left} />
              <Side field={field} value={field.right} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Side({ field, value }: { field: EvidenceField; value: string | null }) {
  return (
    <td data-differs={field.differs} data-numeric={field.numeric && value !== null}>
      {field.differs && <span className={styles.spoken}>differs: </span>}
      <span>{value === null ? "none" : visibleText(field.numeric ? formatDecimal(value) : value)}</span>
    </td>
  );
}
