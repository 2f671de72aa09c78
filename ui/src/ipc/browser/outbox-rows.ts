import type { DeckRow } from "../../generated/DeckRow";
import type { OutboxRow } from "../../generated/OutboxRow";

export function outboxRow(
  row: DeckRow,
  decision: OutboxRow["decision"],
  state: OutboxRow["state"],
): OutboxRow {
  return {
    key: `key of ${row.id}`,
    exception_id: row.id,
    counterparty: row.counterparty,
    entity: row.entity,
    amount: row.amount,
    currency: row.currency,
    minor_units: row.minor_units,
    decision,
    decided_at: new Date().toISOString(),
    state,
    outcome: null,
    message: null,
    attempts: 0,
    next_attempt_in_ms: null,
  };
}

type Answer = Pick<OutboxRow, "state" | "outcome" | "message" | "attempts">;

const ANSWERS: readonly Answer[] = [
  {
    state: "DEAD",
    outcome: null,
    message: "The server was starting each time. Retry when it is up.",
    attempts: 5,
  },
  {
    state: "REFUSED",
    outcome: "STALE_VERSION",
    message: "The amount changed from 825.00 to 830.00. It is back in the deck.",
    attempts: 0,
  },
  {
    state: "REFUSED",
    outcome: "OVER_LIMIT",
    message: "It is over your limit. Ask somebody with a higher one to sign it.",
    attempts: 0,
  },
  {
    state: "REFUSED",
    outcome: "PERIOD_CLOSED",
    message: "Its close period is closed. Ask a supervisor to reopen it, or leave it to the next period.",
    attempts: 0,
  },
  { state: "SENDING", outcome: null, message: null, attempts: 1 },
  { state: "READY", outcome: null, message: null, attempts: 0 },
  { state: "READY", outcome: null, message: null, attempts: 0 },
  { state: "COMMITTED", outcome: "COMMITTED", message: "Committed.", attempts: 0 },
  {
    state: "COMMITTED",
    outcome: "AWAITING_SECOND",
    message: "Signed; waits for a second signature.",
    attempts: 0,
  },
  {
    state: "COMMITTED",
    outcome: "HELD",
    message: "Signed; takes effect when the earlier items of its partition are decided.",
    attempts: 0,
  },
];

/** One decision for every answer there is, each on a row of its own. */
export function earlierDecisions(rows: readonly DeckRow[]): OutboxRow[] {
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  return ANSWERS.flatMap((answer, place) => {
    const row = rows[rows.length - 1 - place];
    if (row === undefined) return [];
    const decided = outboxRow(row, place % 3 === 1 ? "REJECT" : "APPROVE", answer.state);
    return [{ ...decided, ...answer, decided_at: minutesAgo(3 + 7 * place) }];
  });
}
