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
