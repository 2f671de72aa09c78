import { memo } from "react";
import { formatAmount } from "../../components/money";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import { type Group, groupLineId } from "../views/grouping";
import styles from "./Grid.module.css";

/** More do not fit on the line; the title has them all. */
const MOST_CURRENCIES = 4;

interface GridGroupProps {
  group: Group;
  columnCount: number;
  rowIndex: number;
  topPx: number;
  selectedCount: number;
  folded: boolean;
  atCursor: boolean;
  /** Summed by the workstation; `null` until it has answered. */
  subtotals: readonly CurrencyTotal[] | null;
}

/** The heading of a group: what its rows share, how many there are, and what they add up to in each currency. */
export const GridGroup = memo(function GridGroup(props: GridGroupProps) {
  const { group, selectedCount, folded, subtotals } = props;
  const count = group.ids.length;
  const all = selectedCount === count;
  const sums = (subtotals ?? []).map(
    ({ currency, net, minor_units }) => `${visibleText(currency)} ${formatAmount(net, minor_units)}`,
  );
  const shown = sums.slice(0, MOST_CURRENCIES);
  return (
    <div
      role="row"
      className={`${styles.row} ${styles.group}`}
      style={{ transform: `translateY(${props.topPx}px)` }}
      aria-rowindex={props.rowIndex}
      aria-level={1}
      aria-expanded={!folded}
      aria-selected={all}
      tabIndex={props.atCursor ? 0 : -1}
      data-id={groupLineId(group.key)}
      data-testid={`group-${group.key}`}
    >
      <span role="gridcell" className={styles.check} data-check>
        <i className={styles.box} data-on={all} data-mixed={selectedCount > 0 && !all} aria-hidden="true" />
      </span>
      <span
        role="gridcell"
        className={styles.groupCell}
        aria-colspan={props.columnCount}
        title={sums.join("\n")}
        data-fold
      >
        <i className={styles.fold} aria-hidden="true">
          {folded ? "▸" : "▾"}
        </i>
        <b className={styles.groupName}>{visibleText(group.label)}</b>
        <span className={styles.quiet}>
          {counted(count, "exception")}
          {selectedCount > 0 && `, ${selectedCount} selected`}
        </span>
        <span className={styles.groupSums}>
          {shown.map((sum) => (
            <span key={sum}>{sum}</span>
          ))}
          {sums.length > shown.length && <span>{sums.length - shown.length} more</span>}
        </span>
      </span>
    </div>
  );
});
