import { instantText, withOwnInstants } from "../../components/clock";
import { formatAmount } from "../../components/money";
import { shortened } from "../../components/shortened";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { DecisionChoice } from "../../generated/DecisionChoice";
import type { NextStep } from "../../generated/NextStep";
import type { OutboxRow } from "../../generated/OutboxRow";
import type { OutboxState } from "../../generated/OutboxState";

/** What a decision's state means to the reviewer who made it. */
export const STATE_WORDS: Record<OutboxState, string> = {
  HELD: "Can be undone",
  READY: "Waits to be sent",
  SENDING: "On its way",
  COMMITTED: "Accepted",
  REFUSED: "Refused",
  DEAD: "Given up",
};

export const DECISION_WORDS: Record<DecisionChoice, string> = { APPROVE: "Approve", REJECT: "Reject" };

/** What the next safe action is called. */
export const STEP_WORDS: Record<NextStep, string> = {
  NOTHING: "Put away",
  REVIEW_AGAIN: "Review again",
  PUT_AWAY: "Put away",
  SEND_AGAIN: "Send again",
  ASK_SUPERVISOR: "Copy for supervisor",
};

export function wantsAttention({ state }: OutboxRow): boolean {
  return state === "REFUSED" || state === "DEAD";
}

/** A decision's exception in one line, harmless wherever it is shown. */
export function subject({ counterparty, entity, amount, currency, minor_units }: OutboxRow): string {
  const [who, where] = [shortened(visibleText(counterparty)), shortened(visibleText(entity))];
  return `${who}, ${where}, ${visibleText(`${formatAmount(amount, minor_units)} ${currency}`)}`;
}

/** All that somebody with other rights needs to know, as text to send. */
export function supervisorText(row: OutboxRow, reviewer: string | null): string {
  const message = row.message === null ? null : withOwnInstants(row.message, 0);
  const lines = [
    `Exception ${row.exception_id}: ${subject(row)}`,
    `${reviewer ?? "A reviewer"} decided: ${DECISION_WORDS[row.decision]}, ${instantText(row.decided_at, 0)}`,
    row.reason === null ? null : `Reason: ${row.reason}`,
    row.comment === null ? null : `Comment: ${row.comment}`,
    row.theirs === null
      ? null
      : `What stands: ${DECISION_WORDS[row.theirs.decision]} by ${row.theirs.reviewer}, ${instantText(row.theirs.at, 0)}`,
    `Answer: ${[row.outcome, message].filter((part) => part !== null).join(": ") || "none"}`,
    `Sign-off key: ${row.key}`,
  ];
  return visibleLines(lines.filter((line) => line !== null).join("\n"));
}
