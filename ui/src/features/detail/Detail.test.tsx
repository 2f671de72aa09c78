import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { layoutStore } from "../../components/preferences-store";
import { Toasts } from "../../components/Toasts";
import type { DetailView } from "../../generated/DetailView";
import type { HistoryView } from "../../generated/HistoryView";
import type { OcrLine } from "../../generated/OcrLine";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "../review/ReviewScreen";
import { useSections } from "./sections-store";

const ROW = deckRow("a", {
  version: 2,
  state: { label: "Changed", explanation: "It changed since it was shown.", tone: "BAD" },
});

function detail(part: Partial<DetailView> = {}): DetailView {
  return {
    row: ROW,
    key: "key-a",
    content_hash: "c0ffee",
    trace_id: "trace",
    prepared_by: ["prep-01"],
    left_title: "Statement",
    right_title: "Ledger",
    evidence: [
      { label: "Amount", left: "10.00", right: "0.00", differs: true, numeric: true },
      { label: "Currency", left: "USD", right: "USD", differs: false, numeric: false },
    ],
    facts: [],
    control: [],
    payload: '{"amount": 0.1234567890123456789, "lines": [{"item": "<img src=x onerror=alert(1)>"}]}',
    previous_version: 1,
    changes: [{ path: "variance_amount", before: "820.00", after: "10.00" }],
    calculation: [],
    scan: null,
    text: "all of it\nas text",
    ...part,
  };
}

const HISTORY: HistoryView = {
  as_of: "2026-10-05T08:00:00Z",
  exception: [
    { at: "2026-10-05T07:00:00Z", event: "ARRIVED", words: "Arrived", actor: "matching", facts: [] },
  ],
  partition: [],
  counterparty: [],
  approved: 2,
  rejected: 1,
  pending: 0,
};

beforeEach(() => {
  layoutStore.load(null);
  useSections.setState({ opened: null });
});

async function open(view: DetailView, prepare?: (ipc: ReturnType<typeof fakeIpc>) => void) {
  const ipc = fakeIpc([view.row, deckRow("b")]);
  ipc.detail.mockImplementation(async (id) =>
    id === "a" ? view : detail({ row: deckRow(id), changes: [] }),
  );
  prepare?.(ipc);
  const user = userEvent.setup();
  renderWith(
    ipc,
    <>
      <ReviewScreen session={SESSION} />
      <Toasts />
    </>,
  );
  await screen.findByTestId("section-evidence");
  return { user, ipc, pane: screen.getByTestId("detail") };
}

test.each([
  ["10.00", null, "Nothing on the “Ledger” side to compare with."],
  [null, "10.00", "Nothing on the “Statement” side to compare with."],
  [null, null, "There is nothing to compare."],
  ["10.00", "10.00", "Both sides agree."],
])("%s against %s: what is not there does not agree", async (left, right, words) => {
  const { pane } = await open(
    detail({ evidence: [{ label: "Amount", left, right, differs: false, numeric: true }] }),
  );
  expect(within(pane).getByText(words)).toBeTruthy();
  expect(pane.textContent?.includes("agree")).toBe(words.includes("agree"));
});

test("what changed stands before everything else, and a difference is named", async () => {
  const { pane } = await open(detail());
  const text = pane.textContent ?? "";
  expect(text.indexOf("820.00")).toBeGreaterThan(0);
  expect(text.indexOf("820.00")).toBeLessThan(text.indexOf("Variance"));
  expect(screen.getByTestId("detail-state").textContent).toContain("It changed since it was shown.");
  expect(screen.getByTestId("detail-state").dataset.tone).toBe("BAD");
  const evidence = within(screen.getByTestId("section-evidence"));
  expect(evidence.getAllByText("differs:")).toHaveLength(2);
  expect(evidence.getByText("1 of 2 fields differs, marked ≠.")).toBeTruthy();
});

test("the history is asked for when it is opened, and again when it failed", async () => {
  const { user, ipc } = await open(detail(), (fake) =>
    fake.history.mockRejectedValueOnce({ code: "OFFLINE", message: "The history needs the database." }),
  );
  expect(ipc.history).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: /History/ }));
  expect((await screen.findByTestId("history-error")).textContent).toContain("needs the database");
  ipc.history.mockResolvedValue(HISTORY);
  await user.click(screen.getByTestId("history-again"));
  const history = await screen.findByTestId("history");
  expect(history.textContent).toContain("Arrived");
  expect(history.textContent).toContain(
    "3 exceptions of this counterparty and entity: 2 approved, 1 rejected",
  );
});

test("a section stays as it was left, for the next row and in what is kept", async () => {
  const { user } = await open(detail());
  await user.click(screen.getByRole("button", { name: /Statement and ledger/ }));
  expect(screen.queryByRole("columnheader", { name: "Ledger" })).toBeNull();
  await user.click(screen.getByTestId("row-b"));
  await waitFor(() => expect(screen.queryByTestId("section-changes")).toBeNull());
  await screen.findByTestId("section-evidence");
  expect(screen.queryByRole("columnheader", { name: "Ledger" })).toBeNull();
  expect(layoutStore.read("detail-sections", (value) => value)).toEqual({ evidence: false });
});

test("the payload is a tree for the keyboard, digit by digit, and markup in it is text", async () => {
  const { user, pane } = await open(detail());
  await user.click(screen.getByRole("button", { name: /Payload/ }));
  const tree = await screen.findByRole("treegrid", { name: "Payload" });
  expect(tree.textContent).toContain("0.1234567890123456789");
  await user.tab();
  await user.keyboard("{ArrowDown}{ArrowDown}{ArrowRight}");
  await waitFor(() => expect(tree.textContent).toContain("<img src=x onerror=alert(1)>"));
  expect(pane.querySelector("img")).toBeNull();
  await user.keyboard("{ArrowUp}{ArrowLeft}");
  await waitFor(() => expect(tree.textContent).not.toContain("onerror"));
});

test("Enter goes to the detail, Escape back to the row", async () => {
  const { user, pane } = await open(detail());
  screen.getByTestId("row-a").focus();
  await user.keyboard("{Enter}");
  await waitFor(() => expect(document.activeElement).toBe(pane));
  await user.keyboard("{Escape}");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
});

test("all of it is copied as text", async () => {
  const { user } = await open(detail());
  await user.click(screen.getByTestId("copy-detail"));
  await waitFor(async () => expect(await navigator.clipboard.readText()).toBe("all of it\nas text"));
  expect(screen.getByTestId("toast").textContent).toContain("Copied");
});

test("a claim's calculation is written out", async () => {
  const lines = [{ label: "Agreement", working: "1,234 × 0.0175", result: "21.60" }];
  await open(detail({ calculation: lines }));
  expect(screen.getByTestId("calculation").textContent).toContain("1,234 × 0.0175= 21.60");
});

const LINES: OcrLine[] = [
  { text: "real GmbH", confidence: "0.9656", band: "HIGH", x: 588, y: 143, width: 140, height: 22 },
  { text: "SUMME EUR 26,42", confidence: "0.41", band: "LOW", x: 247, y: 600, width: 534, height: 30 },
];

function withScan(): DetailView {
  return detail({ scan: { picture: "receipt-1", read_from: "SUMME EUR 26,42", lines: LINES } });
}

test("a receipt's lines are drawn on its picture, and the list leads to them by the keyboard", async () => {
  const { user, pane } = await open(withScan(), (fake) =>
    fake.picture.mockResolvedValue({
      data_url: "data:image/png;base64,iVBORw0KGgo=",
      page_width: 900,
      page_height: 1600,
    }),
  );
  await waitFor(() => expect(pane.querySelector("img")?.getAttribute("src")).toContain("data:image/png"));
  expect(pane.querySelector("svg")?.getAttribute("viewBox")).toBe("0 0 900 1600");
  const boxes = pane.querySelectorAll("rect[data-band]");
  expect([...boxes].map((box) => box.getAttribute("data-band"))).toEqual(["HIGH", "LOW"]);
  const lines = within(screen.getByTestId("scan-lines")).getAllByRole("option");
  lines[0]?.focus();
  await user.keyboard("{ArrowDown}");
  await waitFor(() => expect(boxes[1]?.getAttribute("data-active")).toBe("true"));
  expect(screen.getByTestId("scan-line").textContent).toContain("unsure 0.41 SUMME EUR 26,42");
  await user.click(screen.getByTestId("scan-larger"));
  expect(screen.getByTestId("scan-page").style.width).toBe("150%");
});

test("without its picture, or with one that is none, the lines are on an empty page", async () => {
  const { pane } = await open(withScan(), (fake) =>
    fake.picture.mockResolvedValue({
      data_url: "https://evil.example/x.png",
      page_width: 10,
      page_height: 10,
    }),
  );
  await waitFor(() => expect(pane.querySelector("svg")?.getAttribute("viewBox")).toBe("0 0 10 10"));
  expect(pane.querySelector("img")).toBeNull();
  expect(pane.querySelectorAll("rect[data-band]")).toHaveLength(2);
});

test("when the picture cannot be fetched, that is said, and the lines are there", async () => {
  const { pane } = await open(withScan(), (fake) =>
    fake.picture.mockRejectedValue({ code: "OFFLINE", message: "The picture needs the database." }),
  );
  await waitFor(() =>
    expect(screen.getByTestId("scan-line").textContent).toContain("The picture needs the database."),
  );
  expect(pane.querySelector("svg")?.getAttribute("viewBox")).toBe("0 0 801 650");
});
