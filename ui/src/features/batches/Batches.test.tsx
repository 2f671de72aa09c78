import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Toasts } from "../../components/Toasts";
import type { BatchRow } from "../../generated/BatchRow";
import type { BatchView } from "../../generated/BatchView";
import type { OutboxRow } from "../../generated/OutboxRow";
import type { SavedFile } from "../../generated/SavedFile";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "../review/ReviewScreen";
import { BatchList } from "./BatchList";
import { BatchReceipt } from "./BatchReceipt";
import { useReceiptDialog } from "./receipt-store";

const ROW: BatchRow = {
  batch: "b1",
  decided_at: "2026-10-05T08:00:00Z",
  decision: "APPROVE",
  signed: 5,
  committed: 1,
  held: 1,
  awaiting: 1,
  refused: 1,
  waiting: 1,
  unsent: 1,
};

function decided(id: string, part: Partial<OutboxRow>): OutboxRow {
  return {
    key: id,
    exception_id: id,
    counterparty: `Counterparty ${id}`,
    entity: "us-onrr",
    amount: "10.00",
    currency: "USD",
    minor_units: 2,
    decision: "APPROVE",
    decided_at: ROW.decided_at,
    state: "COMMITTED",
    outcome: "COMMITTED",
    message: null,
    attempts: 0,
    next_attempt_in_ms: null,
    batch: "b1",
    reason: null,
    comment: null,
    theirs: null,
    next_step: "NOTHING",
    ...part,
  };
}

function total(count: number, net: string) {
  return { currency: "USD", minor_units: 2, count, debits: net, credits: "0.00", net, largest: "10.00" };
}

const VIEW: BatchView = {
  row: ROW,
  reason: null,
  comment: "two\nlines",
  policy_version: 3,
  attestation: "I have examined these exceptions.",
  totals: [total(4, "40.00")],
  accepted: [total(2, "20.00")],
  hash_total: "ab".repeat(32),
  receipts: ["1042", "1043"],
  rows: [
    decided("a", {}),
    decided("b", { outcome: "AWAITING_SECOND" }),
    decided("c", { state: "REFUSED", outcome: "OVER_LIMIT", message: "It is over your limit." }),
    decided("d", { state: "READY", outcome: null }),
    decided("e", { outcome: "HELD" }),
  ],
};

function openReceipt() {
  const ipc = fakeIpc([]);
  ipc.batch.mockResolvedValue(VIEW);
  ipc.batches.mockResolvedValue([ROW]);
  const user = userEvent.setup();
  const client = renderWith(
    ipc,
    <>
      <BatchList />
      <BatchReceipt />
      <Toasts />
    </>,
  );
  return { ipc, user, client };
}

test("a receipt adds up, and each of its parts opens to its decisions", async () => {
  const { user } = openReceipt();
  await user.click(await screen.findByTestId("open-receipt-b1"));
  const sum = await screen.findByTestId("receipt-sum");
  expect(sum.textContent).toBe(
    "5 signed=1 committed+1 held behind earlier items+1 awaiting a second signature+1 refused+1 waiting",
  );
  expect(screen.getByTestId("receipt-totals").textContent).toContain("USD440.00220.00");
  expect(screen.getByTestId("receipt-numbers").textContent).toBe("1042, 1043");
  for (const [part, who] of [
    ["committed", "a"],
    ["held", "e"],
    ["awaiting", "b"],
    ["refused", "c"],
    ["waiting", "d"],
  ]) {
    await user.click(screen.getByTestId(`receipt-${part}`));
    const list = screen.getByTestId("receipt-list");
    expect(within(list).getAllByRole("listitem")).toHaveLength(1);
    expect(list.textContent).toContain(`Counterparty ${who}`);
  }
  await user.click(screen.getByTestId("receipt-refused"));
  expect(screen.getByTestId("receipt-list").textContent).toContain("It is over your limit.");
});

test("a receipt follows what is answered while it is open", async () => {
  const { ipc, user, client } = openReceipt();
  await user.click(await screen.findByTestId("open-receipt-b1"));
  await screen.findByTestId("receipt-sum");
  const row = { ...ROW, committed: 2, waiting: 0, unsent: 0 };
  ipc.batch.mockResolvedValue({ ...VIEW, row });
  await act(() => client.invalidateQueries({ queryKey: ["batch"] }));
  await waitFor(() => expect(screen.getByTestId("receipt-sum").textContent).toContain("2 committed"));
  expect(screen.queryByTestId("receipt-take-back")).toBeNull();
});

test("a receipt is saved by the workstation, which says where", async () => {
  const { ipc, user } = openReceipt();
  await user.click(await screen.findByTestId("open-receipt-b1"));
  await user.click(screen.getByTestId("save-receipt-pdf"));
  await waitFor(() => expect(screen.getByTestId("receipt-saved").textContent).toContain("receipt.pdf"));
  expect(ipc.saveBatch).toHaveBeenCalledExactlyOnceWith("b1", "PDF");
  ipc.saveBatch.mockRejectedValueOnce({ code: "NOT_WRITTEN", message: "The disk is full." });
  await user.click(screen.getByTestId("save-receipt-csv"));
  await waitFor(() => expect(screen.getByTestId("receipt-saved").textContent).toBe("The disk is full."));
});

test("a button that saves keeps the focus, so that Escape still closes the receipt", async () => {
  const { ipc, user } = openReceipt();
  await user.click(await screen.findByTestId("open-receipt-b1"));
  let written: (saved: SavedFile) => void = () => undefined;
  ipc.saveBatch.mockReturnValue(
    new Promise((resolve) => {
      written = resolve;
    }),
  );
  const button = screen.getByTestId("save-receipt-json");
  button.focus();
  await user.keyboard("{Enter}{Enter}");
  expect(document.activeElement).toBe(button);
  await act(async () => written({ path: "receipt.json", name: "receipt.json", bytes: 9, sha256: "00" }));
  await waitFor(() => expect(screen.getByTestId("receipt-saved").textContent).toContain("receipt.json"));
  expect(document.activeElement).toBe(button);
  expect(ipc.saveBatch).toHaveBeenCalledTimes(1);
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("batch-receipt")).toBeNull());
});

test("what was never sent is taken back from the list", async () => {
  const { ipc, user } = openReceipt();
  await user.click(await screen.findByTestId("take-back-b1"));
  await waitFor(() => expect(ipc.cancelUnsent).toHaveBeenCalledExactlyOnceWith("b1"));
  await waitFor(() => expect(screen.getByTestId("toast").textContent).toContain("1 withdrawn"));
});

test("an empty list, and one that cannot be read, say so", async () => {
  const ipc = fakeIpc([]);
  renderWith(ipc, <BatchList />);
  await screen.findByTestId("batches-empty");
  const failing = fakeIpc([]);
  failing.batches.mockRejectedValue({ code: "JOURNAL_FAILED", message: "The journal does not read." });
  renderWith(failing, <BatchList />);
  expect((await screen.findByRole("alert")).textContent).toContain("The journal does not read.");
});

async function signOffline() {
  const ipc = fakeIpc([deckRow("a")]);
  const offline = { online: false, problem: null, next_attempt_in_ms: 14_000, last_contact: null };
  const session = { ...SESSION, link: offline };
  ipc.batches.mockResolvedValue([{ ...ROW, signed: 1, committed: 0, held: 0, awaiting: 0, refused: 0 }]);
  const user = userEvent.setup();
  const client = renderWith(
    ipc,
    <>
      <ReviewScreen session={session} />
      <Toasts />
    </>,
  );
  client.setQueryData(["session"], { value: session, askedAtMs: 0 });
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  await user.keyboard(" a");
  await screen.findByTestId("preflight-COMMITTED");
  await user.keyboard("{Control>}{Enter}{/Control}");
  await screen.findByTestId("batch-progress");
  return { ipc, user, client };
}

test("offline, a signed batch shows how far it is, and ends by itself when everything is answered", async () => {
  const { ipc, client } = await signOffline();
  await waitFor(() =>
    expect(screen.getByTestId("batch-progress").textContent).toContain("0 answered, 1 waiting"),
  );
  ipc.batches.mockResolvedValue([
    { ...ROW, signed: 1, committed: 1, held: 0, awaiting: 0, refused: 0, waiting: 0, unsent: 0 },
  ]);
  await act(() => client.invalidateQueries({ queryKey: ["batches"] }));
  await waitFor(() => expect(screen.queryByTestId("batch-progress")).toBeNull());
  expect(screen.getByTestId("toast").textContent).toContain("Signed 1");
});

test("what is not sent can be taken back from the progress, in words for both cases", async () => {
  const { ipc, user } = await signOffline();
  ipc.cancelUnsent.mockResolvedValue({ withdrawn: 3, too_late: 2 });
  await waitFor(() => expect(screen.getByTestId("take-back").hasAttribute("disabled")).toBe(false));
  await user.click(screen.getByTestId("take-back"));
  await waitFor(() => expect(document.body.textContent).toContain("3 withdrawn, 2 were already sent"));
});

test("the toast opens the receipt", async () => {
  const { user } = await signOffline();
  await user.click(screen.getByTestId("toast-more"));
  expect(useReceiptDialog.getState().batch).toBe("b1");
});
