import { memo } from "react";
import { Amount } from "../../components/Amount";
import { clockText } from "../../components/clock";
import { formatAmount } from "../../components/money";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import type { Tone } from "../../generated/Tone";
import { TEXTS } from "../views/filters";
import type { DrawnColumn } from "./drawn-columns";
import styles from "./Grid.module.css";
import { suggestionTone } from "./words";

const TIER_LOOKS: Record<string, string | undefined> = { standard: styles.faint, escalated: styles.warn };
const SUGGESTION_LOOKS = { ok: styles.ok, warn: styles.warn, plain: styles.quiet };
const STATE_LOOKS: Record<Tone, string | undefined> = {
  CALM: styles.faint,
  INFO: styles.signed,
  WARNING: styles.warn,
  BAD: styles.back,
};
/** From here on a lease may lapse before a batch is read and signed. */
const LEASE_WARNING_S = 120;

interface GridRowProps {
  row: DeckRow;
  columns: readonly DrawnColumn[];
  /** From 1 for the header. */
  rowIndex: number;
  topPx: number;
  selected: boolean;
  atCursor: boolean;
  /** Within a group. */
  level: number | null;
  /** Whole seconds until its lease lapses, where that is shown: nothing else of a row changes by itself. */
  leaseSeconds: number | null;
}

/** One exception. Light, because some forty of them are drawn anew on each frame of a fast scroll. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, columns, selected, atCursor } = props;
  return (
    <div
      role="row"
      className={styles.row}
      style={{ transform: `translateY(${props.topPx}px)` }}
      aria-rowindex={props.rowIndex}
      aria-level={props.level ?? undefined}
      aria-selected={selected}
      tabIndex={atCursor ? 0 : -1}
      data-id={row.id}
      data-testid={`row-${row.id}`}
    >
      <span role="gridcell" className={styles.check} data-check>
        <i className={styles.box} data-on={selected} aria-hidden="true" />
      </span>
      {columns.map((column) => cell(row, column, props.leaseSeconds))}
    </div>
  );
});

/** One element each, since there are hundreds of them; what does not fit is in the title. */
function cell(row: DeckRow, { id, spec, stickyPx }: DrawnColumn, leaseSeconds: number | null) {
  const look = lookOf(row, id, leaseSeconds);
  const classes = [look, spec.right && styles.right, stickyPx !== null && styles.pinned].filter(Boolean);
  const shared = {
    role: "gridcell",
    className: classes.length === 0 ? undefined : classes.join(" "),
    style: stickyPx === null ? undefined : { left: stickyPx },
  };
  if (id === "amount") {
    return (
      <span key={id} {...shared}>
        <Amount amount={row.amount} minorUnits={row.minor_units} />
      </span>
    );
  }
  const text = textOf(row, id, leaseSeconds);
  return (
    <span key={id} {...shared}>
      {text}
    </span>
  );
}

function textOf(row: DeckRow, id: DrawnColumn["id"], leaseSeconds: number | null): string {
  if (id === "lease") return leaseSeconds === 0 ? "lapsed" : clockText(leaseSeconds ?? 0);
  if (id === "due")
    return row.overdue ? `${visibleText(row.due_on ?? "")} late` : visibleText(row.due_on ?? "");
  if (id === "aging") return `${row.aging} d`;
  return visibleText(TEXTS[id](row));
}

/** All of a cell, for whoever points at it. Made then and not before: most cells scroll by without being pointed at. */
export function titleOf(row: DeckRow, { id }: DrawnColumn): string {
  if (id === "amount") return visibleText(formatAmount(row.amount, row.minor_units));
  if (id === "age") return `Submitted ${visibleText(row.submitted_at)}`;
  if (id === "due" && row.overdue) return `Overdue: it had to be decided by ${visibleText(row.due_on ?? "")}`;
  if (id === "suggestion") return visibleLines([row.suggestion.label, ...row.suggestion.reasons].join("\n"));
  if (id === "state" && row.state.explanation !== "") return visibleLines(row.state.explanation);
  return id === "lease" ? "" : textOf(row, id, null);
}

function lookOf(row: DeckRow, id: DrawnColumn["id"], leaseSeconds: number | null): string | undefined {
  switch (id) {
    case "kind":
      return styles.quiet;
    case "tier":
      return TIER_LOOKS[row.tier];
    case "suggestion":
      return SUGGESTION_LOOKS[suggestionTone(row.suggestion.code)];
    case "state":
      return STATE_LOOKS[row.state.tone];
    case "due":
      return row.overdue ? styles.back : undefined;
    case "lease":
      return (leaseSeconds ?? 0) < LEASE_WARNING_S ? styles.warn : styles.faint;
    case "currency":
    case "seq":
    case "version":
    case "partition":
      return styles.faint;
    default:
      return undefined;
  }
}
