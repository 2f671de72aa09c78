import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../App";
import type { OutboxRow } from "../../generated/OutboxRow";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { useReview } from "../review/review-store";
import { useFrame } from "../shell/frame-store";
import { supervisorText } from "./outbox-words";
import { useSync } from "./sync-store";

function row(key: string, part: Partial<OutboxRow>): OutboxRow {
  return {
    key,
    exception_id: key,
    counterparty: `Counterparty ${key}`,
    entity: "de-01",
    amount: "600.00",
    currency: "EUR",
    minor_units: 2,
    decision: "REJECT",
    decided_at: "2026-10-05T08:00:00Z",
    state: "REFUSED",
    outcome: "ALREADY_DECIDED",
    message: "Somebody else decided it first.",
    attempts: 0,
    next_attempt_in_ms: null,
    batch: "b1",
    reason: null,
    comment: null,
    theirs: null,
    next_step: "PUT_AWAY",
    ...part,
  };
}

const CONFLICT = row("conflict", {
  reason: "WRONG_AMOUNT",
  comment: "12.40, not\u202E 21.40 <img src=x onerror=alert(1)>",
  theirs: { reviewer: "reviewer-03", decision: "APPROVE", at: "2026-10-05T07:58:00Z" },
});
const STALE = row("stale", { outcome: "STALE_VERSION", message: "It changed.", next_step: "REVIEW_AGAIN" });
const LIMIT = row("limit", {
  outcome: "OVER_LIMIT",
  message: "Over your limit.",
  next_step: "ASK_SUPERVISOR",
});
const DEAD = row("dead", { state: "DEAD", outcome: null, message: "Five times.", next_step: "SEND_AGAIN" });

beforeEach(() => {
  useFrame.setState({ screen: "sync", worksOffline: false, drain: null });
  useSync.setState({ tab: "attention", seen: new Set() });
});

async function open(rows: OutboxRow[]) {
  const ipc = fakeIpc([deckRow("other"), deckRow("stale")]);
  let left = rows;
  ipc.session.mockResolvedValue({ ...SESSION, deck_count: 2, attention: rows.length });
  ipc.dismiss.mockImplementation(async (key) => {
    left = left.filter((each) => each.key !== key);
  });
  ipc.outbox.mockImplementation(async () => ({
    version: 1,
    held: 0,
    ready: 0,
    sending: 0,
    committed: 0,
    refused: left.filter(({ state }) => state === "REFUSED").length,
    dead: left.filter(({ state }) => state === "DEAD").length,
    oldest_unsent: null,
    next_attempt_in_ms: null,
    rows: left,
  }));
  renderWith(ipc, <App />);
  await screen.findByTestId("attention");
  await waitFor(() => expect(screen.queryByTestId(`attention-${rows[0]?.exception_id}`)).not.toBeNull());
  return { ipc, user: userEvent.setup() };
}

const item = (key: string) =>
  document.querySelector<HTMLElement>(`[data-testid="attention"] [data-item="${key}"]`);

test("a conflict shows both decisions side by side, and hides nothing that was written", async () => {
  await open([CONFLICT]);
  const [, mine, theirs] = within(screen.getByTestId("attention-conflict")).getAllByRole("cell");
  expect(mine?.textContent).toContain("Reject");
  expect(mine?.textContent).toContain("WRONG_AMOUNT");
  expect(mine?.textContent).toContain("not<U+202E> 21.40 <img src=x onerror=alert(1)>");
  expect(theirs?.textContent).toContain("Approve by reviewer-03");
});

test("by keyboard alone a refused row leads to its row in Review", async () => {
  const { user } = await open([CONFLICT, STALE]);
  item("conflict")?.focus();
  await user.keyboard("j{Enter}");
  await waitFor(() => expect(useFrame.getState().screen).toBe("review"));
  expect(useReview.getState().selection.cursor).toBe("stale");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-stale")));
});

test("one that is not in the deck is told, and nothing is left", async () => {
  const { user } = await open([row("gone", { next_step: "REVIEW_AGAIN" })]);
  item("gone")?.focus();
  await user.keyboard("{Enter}");
  expect((await screen.findByTestId("toast")).textContent).toContain("comes back when it is leased again");
  expect(useFrame.getState().screen).toBe("sync");
});

test("putting one away hands the keyboard to the next", async () => {
  const { ipc, user } = await open([CONFLICT, STALE, LIMIT]);
  item("stale")?.focus();
  await user.keyboard("p");
  await waitFor(() => expect(item("stale")).toBeNull());
  expect(ipc.dismiss).toHaveBeenCalledExactlyOnceWith("stale");
  await waitFor(() => expect(document.activeElement).toBe(item("limit")));
});

test("what was given up is sent again, never put away", async () => {
  const { ipc, user } = await open([DEAD]);
  item("dead")?.focus();
  await user.keyboard("p");
  expect(ipc.dismiss).not.toHaveBeenCalled();
  await user.keyboard("{Enter}");
  await waitFor(() => expect(ipc.retryDead).toHaveBeenCalledExactlyOnceWith("dead"));
  expect(screen.getByTestId<HTMLButtonElement>("put-seen-away").disabled).toBe(true);
});

test("all seen ones are put away after their number was confirmed, and no dead one", async () => {
  const { ipc, user } = await open([DEAD, CONFLICT, LIMIT]);
  await user.click(screen.getByTestId("put-seen-away"));
  const dialog = await screen.findByTestId("put-away-dialog");
  expect(dialog.textContent).toContain("2 refused decisions leave this list");
  await user.click(screen.getByTestId("put-away-confirm"));
  await waitFor(() => expect(ipc.dismiss.mock.calls.map(([key]) => key)).toEqual(["conflict", "limit"]));
});

test("a failure on the way says how far it came", async () => {
  const { ipc, user } = await open([DEAD, row("dead2", { state: "DEAD", next_step: "SEND_AGAIN" })]);
  ipc.retryDead
    .mockResolvedValueOnce(undefined)
    .mockRejectedValueOnce({ code: "X", message: "The disk is full." });
  await user.click(screen.getByTestId("send-all-again"));
  expect((await screen.findByTestId("toast")).textContent).toContain(
    "1 of 2 will be sent again. The disk is full.",
  );
});

test("its history opens with a key", async () => {
  const { ipc, user } = await open([LIMIT]);
  ipc.outboxHistory.mockResolvedValue([
    { at: "2026-10-05T08:00:00Z", event: "SIGNED", words: "Signed here", actor: "me", facts: [] },
  ]);
  item("limit")?.focus();
  await user.keyboard("h");
  expect((await screen.findByTestId("outbox-history")).textContent).toContain("Signed here");
});

test("a supervisor reads what was decided, what stands and what the server said", () => {
  const text = supervisorText(CONFLICT, "reviewer-12");
  expect(text).toContain("Counterparty conflict, de-01, 600.00 EUR");
  expect(text).toContain("reviewer-12 decided: Reject");
  expect(text).toContain("What stands: Approve by reviewer-03");
  expect(text).toContain("ALREADY_DECIDED: Somebody else decided it first.");
  expect(text).toContain("<U+202E>");
});

test("nothing that wants attention is said as such", async () => {
  const ipc = fakeIpc([]);
  ipc.outbox.mockResolvedValue({
    version: 1,
    held: 0,
    ready: 0,
    sending: 0,
    committed: 0,
    refused: 0,
    dead: 0,
    oldest_unsent: null,
    next_attempt_in_ms: null,
    rows: [],
  });
  renderWith(ipc, <App />);
  expect((await screen.findByTestId("attention")).textContent).toContain("Nothing wants attention");
});
