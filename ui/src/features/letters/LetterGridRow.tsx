import { memo } from "react";
import { Amount } from "../../components/Amount";
import { visibleText } from "../../components/visible-text";
import type { LetterRow } from "../../generated/LetterRow";
import styles from "./LetterGrid.module.css";
import { LETTER_COLUMNS } from "./letter-columns";
import { useLetterDesk } from "./letters-store";

interface LetterGridRowProps {
  row: LetterRow;
  place: number;
  topPx: number;
  selected: boolean;
  atCursor: boolean;
}

export const LetterGridRow = memo(function LetterGridRow(props: LetterGridRowProps) {
  const { row, place, topPx, selected, atCursor } = props;
  const unsaved = useLetterDesk((state) => state.drafts.has(row.id));
  return (
    <div
      role="row"
      className={styles.row}
      style={{ transform: `translateY(${topPx}px)` }}
      aria-rowindex={place + 2}
      aria-selected={selected}
      tabIndex={atCursor ? 0 : -1}
      data-id={row.id}
      data-cursor={atCursor || undefined}
      data-status={row.status}
      data-testid={`letter-${row.id}`}
    >
      <span role="gridcell" className={styles.box} data-check>
        <i aria-hidden="true">{selected ? "☑" : "☐"}</i>
      </span>
      {LETTER_COLUMNS.map(({ id, right = false, wide = false, text }) => {
        const shown = visibleText(text(row));
        return (
          <span
            key={id}
            role="gridcell"
            className={right ? styles.right : undefined}
            data-wide={wide || undefined}
            data-column={id}
            title={shown}
          >
            {id === "state" && unsaved && <em className={styles.unsaved}>Not saved · </em>}
            {id === "amount" && row.at_risk !== null ? (
              <Amount
                amount={row.at_risk.amount}
                minorUnits={row.at_risk.amount.split(".")[1]?.length ?? 0}
              />
            ) : (
              shown
            )}
          </span>
        );
      })}
    </div>
  );
});
