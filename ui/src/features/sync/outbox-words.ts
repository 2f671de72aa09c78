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

const OUTCOMES: Record<string, string> = {
  COMMITTED: "Committed",
  AWAITING_SECOND: "Awaits a second signature",
  HELD: "Held behind an earlier one",
  DUPLICATE: "Answered before",
  KEY_REUSED: "Key used for something else",
  STALE_VERSION: "Changed since it was shown",
  LEASE_SUPERSEDED: "Taken by somebody else",
  ALREADY_DECIDED: "Decided already",
  PREPARER: "You prepared it",
  OVER_LIMIT: "Over your limit",
  NOT_ELIGIBLE: "Not for you to sign",
};

/** An outcome that this version does not know is shown as it came. */
export function outcomeWords(outcome: string | null): string {
  return outcome === null ? "" : (OUTCOMES[outcome] ?? outcome);
}
