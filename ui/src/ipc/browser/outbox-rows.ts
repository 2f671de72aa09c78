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
    batch: "b0",
    reason: null,
    comment: null,
    theirs: null,
    next_step: "NOTHING",
  };
}

type Answer = Partial<OutboxRow> & Pick<OutboxRow, "state">;

const ANSWERS: readonly Answer[] = [
  {
    state: "DEAD",
    message: "The server was starting each time. Retry when it is up.",
    attempts: 5,
    next_step: "SEND_AGAIN",
  },
  {
    state: "REFUSED",
    outcome: "ALREADY_DECIDED",
    message: "Somebody else decided it first, and their decision stands.",
    reason: "WRONG_AMOUNT",
    comment: "The receipt says 12.40,\nnot 21.40 <img src=x onerror=alert(1)> \u202Egpj.exe",
    theirs: { reviewer: "reviewer-03", decision: "APPROVE", at: "2026-10-05T13:58:11Z" },
    next_step: "PUT_AWAY",
  },
  {
    state: "REFUSED",
    outcome: "STALE_VERSION",
    message: "The amount changed from 825.00 to 830.00. It is back in the deck.",
    next_step: "REVIEW_AGAIN",
  },
  {
    state: "REFUSED",
    outcome: "OVER_LIMIT",
    message: "It is over your limit. Ask somebody with a higher one to sign it.",
    next_step: "ASK_SUPERVISOR",
  },
  {
    state: "REFUSED",
    outcome: "PERIOD_CLOSED",
    message: "Its close period is closed. Ask a supervisor to reopen it, or leave it to the next period.",
    next_step: "ASK_SUPERVISOR",
  },
  { state: "SENDING", attempts: 1 },
  { state: "READY" },
  { state: "READY" },
  { state: "COMMITTED", outcome: "COMMITTED", message: "Committed." },
  {
    state: "COMMITTED",
    outcome: "AWAITING_SECOND",
    message: "Signed; waits for a second signature.",
  },
  {
    state: "COMMITTED",
    outcome: "HELD",
    message: "Signed; takes effect when the earlier items of its partition are decided.",
  },
];

/** One decision for every answer there is, each on a row of its own; that which was refused as stale is back in the deck. */
export function earlierDecisions(rows: readonly DeckRow[]): OutboxRow[] {
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  return ANSWERS.flatMap((answer, place) => {
    const row = rows[rows.length - 1 - place];
    if (row === undefined) return [];
    const decided = outboxRow(row, place % 3 === 1 ? "REJECT" : "APPROVE", answer.state);
    return [{ ...decided, ...answer, decided_at: minutesAgo(3 + 7 * place) }];
  });
}
