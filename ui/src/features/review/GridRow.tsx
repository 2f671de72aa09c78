import { memo } from "react";
import { Amount } from "../../components/Amount";
import { ageText, clockText, useSecondsUntil } from "../../components/clock";
import { Text } from "../../components/Text";
import type { DeckRow } from "../../generated/DeckRow";
import styles from "./Grid.module.css";
import { capitalised, kindWord, suggestionTone } from "./words";

interface GridRowProps {
  row: DeckRow;
  /** From 1 for the header. */
  rowIndex: number;
  topPx: number;
  selected: boolean;
  atCursor: boolean;
  /** When the deck was asked for; leases count from there. */
  askedAtMs: number;
}

/** One exception. Light, because some forty of them are drawn anew on each frame of a fast scroll. */
export const GridRow = memo(function GridRow({
  row,
  rowIndex,
  topPx,
  selected,
  atCursor,
  askedAtMs,
}: GridRowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the roving tab index is set, as a number that the rule does not read
    <div
      role="row"
      className={styles.row}
      style={{ transform: `translateY(${topPx}px)` }}
      aria-rowindex={rowIndex}
      aria-selected={selected}
      tabIndex={atCursor ? 0 : -1}
      data-id={row.id}
      data-testid={`row-${row.id}`}
    >
      <span role="gridcell" className={styles.check} data-check>
        <i className={styles.box} data-on={selected} aria-hidden="true" />
      </span>
      <span role="gridcell" className={styles.quiet}>
        {kindWord(row.kind)}
      </span>
      <span role="gridcell">
        <Text text={row.entity} />
      </span>
      <span role="gridcell">
        <Text text={row.counterparty} />
      </span>
      <span role="gridcell" className={styles.right}>
        <Amount amount={row.amount} minorUnits={row.minor_units} />
      </span>
      <span role="gridcell" className={styles.faint}>
        {row.currency}
      </span>
      <span role="gridcell" className={styles.right} title={row.submitted_at}>
        {ageText(row.submitted_at, Date.now())}
      </span>
      <span role="gridcell">
        <Text text={capitalised(row.match_decision)} />
      </span>
      <span role="gridcell" data-tier={row.tier}>
        <Text text={capitalised(row.tier)} />
      </span>
      <span role="gridcell" data-tone={suggestionTone(row.suggestion.code)}>
        <Text text={row.suggestion.label} />
      </span>
      <span role="gridcell" className={styles.right}>
        <Lease endsAtMs={askedAtMs + row.lease_ends_in_ms} />
      </span>
      <span role="gridcell" className={row.note === null ? styles.faint : styles.back}>
        <Text text={row.note ?? (row.group === null ? "" : `Group ${row.group}`)} />
      </span>
    </div>
  );
});

/** Apart, so that a second that passes draws one cell anew and not the row. */
function Lease({ endsAtMs }: { endsAtMs: number }) {
  const seconds = useSecondsUntil(endsAtMs) ?? 0;
  if (seconds === 0) return <span className={styles.lapsed}>lapsed</span>;
  return <span className={seconds < 120 ? styles.lapsed : styles.faint}>{clockText(seconds)}</span>;
}
