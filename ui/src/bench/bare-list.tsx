import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useRef } from "react";
import { createRoot } from "react-dom/client";
import { formatAmount } from "../components/money";
import "../components/theme.css";
import type { DeckRow } from "../generated/DeckRow";
import { openMemoryStation } from "../ipc/browser/memory-station";
import "./bare-list.css";

/**
 * What the grid's frame times are compared with: virtual rows with the grid's columns and nothing else. No table behind them, no
 * cursor, no selection, no countdowns, no roles.
 */
const ROW_PX = 28;

const Row = memo(function Row({ row, topPx }: { row: DeckRow; topPx: number }) {
  return (
    <div className="bare-row" style={{ transform: `translateY(${topPx}px)` }}>
      <span />
      <span>{row.kind}</span>
      <span>{row.entity}</span>
      <span>{row.counterparty}</span>
      <span className="bare-right">{formatAmount(row.amount, row.minor_units)}</span>
      <span>{row.currency}</span>
      <span className="bare-right">{row.age_days}</span>
      <span>{row.match_decision}</span>
      <span>{row.tier}</span>
      <span>{row.suggestion.label}</span>
      <span className="bare-right">{row.lease_ends_in_ms}</span>
      <span>{row.state.label}</span>
    </div>
  );
});

function BareList({ rows }: { rows: readonly DeckRow[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  return (
    <div ref={scroller} className="bare-list" data-testid="grid">
      <div style={{ height: virtualizer.getTotalSize(), position: "relative" }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row === undefined ? null : <Row key={row.id} row={row} topPx={start} />;
        })}
      </div>
    </div>
  );
}

const root = document.getElementById("root");
if (root === null) throw new Error("bare-list.html has no #root");
const ipc = await openMemoryStation(new URLSearchParams(window.location.search));
const { rows } = await ipc.deck();
createRoot(root).render(<BareList rows={rows} />);
