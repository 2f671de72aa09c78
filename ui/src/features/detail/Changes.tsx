import { visibleText } from "../../components/visible-text";
import type { ContentChange } from "../../generated/ContentChange";
import styles from "./Detail.module.css";

/** What is different from the version that was seen before, field by field. */
export function Changes({ changes }: { changes: readonly ContentChange[] }) {
  return (
    <table className={styles.changes} data-testid="changes">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">{visibleText(path)}</th>
            <td>{before === null ? "was not there" : <del>{visibleText(before)}</del>}</td>
            <td>{after === null ? "is gone" : <ins>{visibleText(after)}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
