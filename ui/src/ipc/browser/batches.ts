import type { BatchRow } from "../../generated/BatchRow";
import type { BatchView } from "../../generated/BatchView";
import type { DeckRow } from "../../generated/DeckRow";
import type { HistoryEvent } from "../../generated/HistoryEvent";
import type { OutboxRow } from "../../generated/OutboxRow";
import { totalsOf } from "./sums";

function rowOf(rows: readonly OutboxRow[]): BatchRow {
  const count = (test: (row: OutboxRow) => boolean) => rows.filter(test).length;
  const awaiting = count(({ outcome }) => outcome === "AWAITING_SECOND");
  const held = count(({ state, outcome }) => state === "COMMITTED" && outcome === "HELD");
  const committed = count(({ state }) => state === "COMMITTED") - awaiting - held;
  const refused = count(({ state }) => state === "REFUSED");
  return {
    batch: rows[0]?.batch ?? "",
    decided_at: rows[0]?.decided_at ?? "",
    decision: rows[0]?.decision ?? "APPROVE",
    signed: rows.length,
    committed,
    held,
    awaiting,
    refused,
    waiting: rows.length - committed - held - awaiting - refused,
    unsent: count(({ state }) => state === "HELD" || state === "READY"),
  };
}

export function batchRows(outbox: readonly OutboxRow[]): BatchRow[] {
  return [...Map.groupBy(outbox, ({ batch }) => batch).values()].map(rowOf);
}

export function batchOf(rows: readonly OutboxRow[]): BatchView {
  const accepted = rows.filter(({ state }) => state === "COMMITTED");
  const totals = (some: readonly OutboxRow[]) => totalsOf(some as unknown as readonly DeckRow[]);
  return {
    row: rowOf(rows),
    reason: rows[0]?.reason ?? null,
    comment: rows[0]?.comment ?? null,
    policy_version: 7,
    attestation: "I have examined these exceptions and their evidence, and I decide as stated.",
    totals: totals(rows),
    accepted: totals(accepted),
    hash_total: "5f".repeat(32),
    receipts: accepted.length === 0 ? [] : ["1042"],
    rows: [...rows],
  };
}

export function decisionHistory(row: OutboxRow | undefined): HistoryEvent[] {
  if (row === undefined) return [];
  const event = (name: string, words: string): HistoryEvent => ({
    at: row.decided_at,
    event: name,
    words,
    actor: "reviewer-12",
    facts: [],
  });
  const tried = row.attempts > 0 ? [event("ATTEMPTED", `Tried ${row.attempts} times`)] : [];
  const answered = row.outcome === null ? [] : [event("ANSWERED", row.message ?? row.outcome)];
  return [event("SIGNED", "Signed here"), ...tried, ...answered];
}
