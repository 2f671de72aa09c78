import { memo } from "react";
import { Amount } from "../../components/Amount";
import { ageText, clockText, useSecondsUntil } from "../../components/clock";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import styles from "./Grid.module.css";
import { capitalised, kindWord, stateExplanation, stateTone, stateWords, suggestionTone } from "./words";

const TIER_LOOKS: Record<string, string | undefined> = { standard: styles.faint, escalated: styles.warn };
const SUGGESTION_LOOKS = { ok: styles.ok, warn: styles.warn, plain: styles.quiet };
const STATE_LOOKS = { back: styles.back, warn: styles.warn, accent: styles.signed, faint: styles.faint };

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
        {visibleText(kindWord(row.kind))}
      </span>
      <Cell text={row.entity} />
      <Cell text={row.counterparty} />
      <span role="gridcell" className={styles.right}>
        <Amount amount={row.amount} minorUnits={row.minor_units} />
      </span>
      <span role="gridcell" className={styles.faint}>
        {visibleText(row.currency)}
      </span>
      <span role="gridcell" className={styles.right} title={visibleText(row.submitted_at)}>
        {ageText(row.submitted_at, Date.now())}
      </span>
      <Cell text={capitalised(row.match_decision)} />
      <Cell text={capitalised(row.tier)} className={TIER_LOOKS[row.tier]} />
      <Cell text={row.suggestion.label} className={SUGGESTION_LOOKS[suggestionTone(row.suggestion.code)]} />
      <span role="gridcell" className={styles.right}>
        <Lease endsAtMs={askedAtMs + row.lease_ends_in_ms} />
      </span>
      <Cell text={stateWords(row)} title={stateExplanation(row)} className={STATE_LOOKS[stateTone(row)]} />
    </div>
  );
});

/** Text from outside in a cell; what does not fit is in the title. One element, since there are hundreds of them. */
function Cell({ text, title, className }: { text: string; title?: string; className?: string }) {
  const shown = visibleText(text);
  return (
    <span role="gridcell" className={className} title={title === undefined ? shown : visibleLines(title)}>
      {shown}
    </span>
  );
}

/** Apart, so that a second that passes draws one cell anew and not the row. */
function Lease({ endsAtMs }: { endsAtMs: number }) {
  const seconds = useSecondsUntil(endsAtMs) ?? 0;
  if (seconds === 0) return <span className={styles.warn}>lapsed</span>;
  return <span className={seconds < 120 ? styles.warn : styles.faint}>{clockText(seconds)}</span>;
}
