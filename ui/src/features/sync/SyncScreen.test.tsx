import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import type { OutboxRow } from "../../generated/OutboxRow";
import type { ReceiptRow } from "../../generated/ReceiptRow";
import { fakeIpc, renderWith, SESSION } from "../../test-deck";
import { SyncScreen } from "./SyncScreen";
import { useSync } from "./sync-store";

const ROW: OutboxRow = {
  key: "k",
  exception_id: "7",
  counterparty: "ACME",
  entity: "de-01",
  amount: "600.00",
  currency: "EUR",
  minor_units: 2,
  decision: "APPROVE",
  decided_at: "2026-10-05T08:00:00Z",
  state: "COMMITTED",
  outcome: "AWAITING_SECOND",
  message: "Signed; waits for a second signature.",
  attempts: 0,
  next_attempt_in_ms: null,
  batch: "b1",
  reason: null,
  comment: null,
  theirs: null,
  next_step: "NOTHING",
};

const RECEIPT: ReceiptRow = {
  number: "4119",
  at: "2026-10-05T08:00:00Z",
  submitted: 6,
  committed: 4,
  refused: 1,
  duplicate: 1,
  nets: [{ currency: "USD", minor_units: 2, count: 5, net: "-77.10" }],
  policy_version: 7,
  other_policy: "4 were decided under another policy than version 7",
};

beforeEach(() => useSync.setState({ tab: "decisions", seen: new Set() }));

function open(receipts: ReceiptRow[], committed = 1) {
  const ipc = fakeIpc([]);
  ipc.receipts.mockResolvedValue(receipts);
  ipc.outbox.mockResolvedValue({
    version: 1,
    held: 0,
    ready: 0,
    sending: 0,
    committed,
    refused: 0,
    dead: 0,
    oldest_unsent: null,
    next_attempt_in_ms: null,
    rows: [ROW],
  });
  renderWith(ipc, <SyncScreen session={{ value: SESSION, askedAtMs: 0 }} />);
  return userEvent.setup();
}

test("a first signature of two is told as such", async () => {
  open([]);
  expect((await screen.findByTestId("outbox-7")).textContent).toContain(
    "Signed; waits for a second signature.",
  );
});

test("receipts are a key away and add up before the eyes", async () => {
  const user = open([RECEIPT]);
  await screen.findByTestId("outbox-7");
  screen.getByRole("tab", { name: "Decisions" }).focus();
  await user.keyboard("{End}");
  const receipt = await screen.findByTestId("receipt-4119");
  const cells = [...receipt.querySelectorAll("td")].map((cell) => cell.textContent);
  expect(cells.slice(1, 5)).toEqual(["6", "4", "1", "1"]);
  expect(receipt.textContent).toContain("USD (77.10)");
  expect(receipt.textContent).toContain("another policy than version 7");
});

test("without receipts it is said when there will be one", async () => {
  const user = open([]);
  await user.click(await screen.findByTestId("tab-receipts"));
  await waitFor(() => expect(screen.getByTestId("receipts-empty").textContent).toContain("No receipt"));
});

test.each([
  [499, "499"],
  [500, "latest 500"],
  [4998, "latest 4998"],
])(
  "of %i accepted ones it says %j: what was answered long before is not counted",
  async (committed, text) => {
    open([], committed);
    await screen.findByTestId("outbox-7");
    const accepted = within(screen.getByTestId("outbox-counts")).getByText("Accepted").parentElement;
    expect(accepted?.querySelector("dd")?.textContent).toBe(text);
    expect(accepted?.title).toContain("at most 500 from before");
  },
);
