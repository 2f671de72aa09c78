import type { ReactTable } from "@tanstack/react-table";
import type { DeckRow } from "../../generated/DeckRow";
import { type features, RIGHT_ALIGNED } from "./columns";
import styles from "./Grid.module.css";

interface GridHeaderProps {
  table: ReactTable<typeof features, DeckRow>;
  selectedShown: number;
  shown: number;
  onToggleAll: () => void;
}

const SORTED = { asc: "ascending", desc: "descending" } as const;

export function GridHeader({ table, selectedShown, shown, onToggleAll }: GridHeaderProps) {
  const all = shown > 0 && selectedShown === shown;
  const mixed = selectedShown > 0 && !all;
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" className={styles.headRow} aria-rowindex={1}>
        <span role="columnheader" className={styles.check}>
          <button
            type="button"
            role="checkbox"
            className={styles.boxButton}
            aria-checked={mixed ? "mixed" : all}
            aria-label="Select all shown"
            title="Select what the filter shows (Ctrl A)"
            onClick={onToggleAll}
            data-testid="select-all"
          >
            <i className={styles.box} data-on={all} data-mixed={mixed} aria-hidden="true" />
          </button>
        </span>
        {table.getFlatHeaders().map(({ column }) => {
          const sorted = column.getIsSorted();
          const name = String(column.columnDef.header);
          return (
            <span
              key={column.id}
              role="columnheader"
              className={RIGHT_ALIGNED.has(column.id) ? styles.right : undefined}
              data-column={column.id}
              aria-sort={sorted === false ? "none" : SORTED[sorted]}
            >
              <button
                type="button"
                className={styles.sort}
                title={`Sort by ${name.toLowerCase()}`}
                onClick={column.getToggleSortingHandler()}
              >
                {name}
                <i aria-hidden="true">{sorted === false ? "" : sorted === "asc" ? "↑" : "↓"}</i>
              </button>
            </span>
          );
        })}
      </div>
    </div>
  );
}
