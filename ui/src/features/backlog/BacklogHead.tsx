import styles from "./BacklogTable.module.css";
import { useBacklogChoice } from "./backlog-store";
import type { SortColumn } from "./lines";

const COLUMNS: readonly { name: string; sort: SortColumn | null; look: string | undefined }[] = [
  { name: "Entity", sort: "entity", look: styles.entity },
  { name: "Tier", sort: "tier", look: styles.tier },
  { name: "Free", sort: "free", look: styles.number },
  { name: "Sum of what is free", sort: null, look: undefined },
  { name: "Held", sort: "held", look: styles.number },
  { name: "Sum of what is held", sort: null, look: styles.heldSum },
  { name: "Mine", sort: "mine", look: styles.number },
];

export function BacklogHead() {
  const { sort, sortBy } = useBacklogChoice();
  const state = (column: SortColumn | null) => {
    if (column !== sort.column) return undefined;
    return sort.descending ? "descending" : "ascending";
  };
  return (
    <thead>
      <tr aria-rowindex={1}>
        {COLUMNS.map(({ name, sort: column, look }) => (
          <th key={name} scope="col" className={look} aria-sort={state(column)}>
            {column === null ? (
              name
            ) : (
              <button type="button" className={styles.sort} onClick={() => sortBy(column)}>
                {name}
                <i aria-hidden="true">{sort.column === column ? (sort.descending ? "▾" : "▴") : ""}</i>
              </button>
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}
