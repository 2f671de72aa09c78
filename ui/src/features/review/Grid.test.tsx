import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { layoutStore } from "../../components/preferences-store";
import { Toasts } from "../../components/Toasts";
import { uiState } from "../../components/ui-state";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { EVERYTHING } from "../views/setup";
import { useViews } from "../views/views-store";
import { restoreReview } from "./kept-review";
import { ReviewScreen } from "./ReviewScreen";
import { useReview } from "./review-store";

const ROWS = [
  deckRow("a", { currency: "USD", amount: "9.00", age_days: 3 }),
  deckRow("b", { currency: "EUR", amount: "100.00" }),
  deckRow("c", { currency: "USD", amount: "-20.00", age_days: 41 }),
  deckRow("d", { currency: "EUR", amount: "11.00" }),
];

beforeEach(() => {
  layoutStore.load(null);
  uiState.load(null);
});

async function openReview(rows = ROWS, ipc = fakeIpc(rows)) {
  const user = userEvent.setup();
  const client = renderWith(
    ipc,
    <>
      <ReviewScreen session={SESSION} />
      <Toasts />
    </>,
  );
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId(`row-${rows[0]?.id}`)));
  return { user, ipc, client };
}

function lines(): string[] {
  return within(screen.getByTestId("grid"))
    .getAllByRole("row")
    .flatMap((row) => row.dataset.id ?? []);
}

function net(currency: string, amount: string): CurrencyTotal {
  return {
    currency,
    minor_units: 2,
    count: 2,
    debits: amount,
    credits: "0.00",
    net: amount,
    largest: amount,
  };
}

async function group(by: "currency" | "entity") {
  useViews.getState().change({ group: by });
  await screen.findByRole("treegrid");
}

test("groups show what the workstation adds up for each currency", async () => {
  const ipc = fakeIpc(ROWS);
  ipc.subtotals.mockImplementation(async (groups) =>
    groups.map((ids) => [net("SUM", `${ids.length}111.00`)]),
  );
  await openReview(ROWS, ipc);
  await group("currency");
  expect(lines()).toEqual(["group:EUR", "b", "d", "group:USD", "a", "c"]);
  await waitFor(() => expect(screen.getByTestId("group-EUR").textContent).toContain("SUM 2,111.00"));
  expect(ipc.subtotals).toHaveBeenCalledWith([
    ["b", "d"],
    ["a", "c"],
  ]);
  expect(screen.getByTestId("group-EUR").getAttribute("aria-expanded")).toBe("true");
});

test("a folded group is selected as a whole, says so, and is in the totals", async () => {
  const { user, ipc } = await openReview();
  await group("currency");
  screen.getByTestId("row-a").focus();
  await user.keyboard("{ArrowLeft}{ArrowLeft}");
  expect(lines()).toEqual(["group:EUR", "b", "d", "group:USD"]);
  expect(document.activeElement).toBe(screen.getByTestId("group-USD"));
  await user.keyboard(" ");
  expect(screen.getByTestId("group-USD").textContent).toContain("2 exceptions, 2 selected");
  await waitFor(() => expect(ipc.totals).toHaveBeenLastCalledWith(["a", "c"]));
  await user.keyboard("{ArrowRight}");
  expect(lines()).toContain("c");
  await user.keyboard(" ");
  expect(useReview.getState().selection.selected.size).toBe(0);
});

test("Ctrl+A takes folded groups as well, and the bar and the announcement say how much of it", async () => {
  const { user } = await openReview();
  await group("currency");
  useViews.getState().fold(["EUR"], true);
  await waitFor(() => expect(lines()).toEqual(["group:EUR", "group:USD", "a", "c"]));
  screen.getByTestId("row-a").focus();
  await user.keyboard("{Control>}a{/Control}");
  expect(useReview.getState().selection.selected.size).toBe(4);
  expect(screen.getByTestId("selection-bar").textContent).toContain("2 in collapsed groups");
  await waitFor(() =>
    expect(screen.getByTestId("announcer").textContent).toBe(
      "All 4 selected. 2 of them are in collapsed groups.",
    ),
  );
  await user.click(screen.getByTestId("expand-groups"));
  expect(lines()).toContain("b");
  expect(screen.getByTestId("selection-bar").textContent).not.toContain("collapsed");
});

test("a range over a folded group takes what it stands for", async () => {
  const { user } = await openReview();
  await group("currency");
  useViews.getState().fold(["EUR"], true);
  await waitFor(() => expect(lines()).toEqual(["group:EUR", "group:USD", "a", "c"]));
  screen.getByTestId("row-a").focus();
  await user.keyboard("{Home}{Shift>}{ArrowDown}{ArrowDown}{/Shift}");
  expect([...useReview.getState().selection.selected].toSorted()).toEqual(["a", "b", "d"]);
});

test("Shift sorts by a further column, amounts within their currency", async () => {
  const { user } = await openReview();
  await user.click(screen.getByRole("button", { name: "Variance" }));
  expect(lines()).toEqual(["d", "b", "c", "a"]);
  expect(screen.getByRole("columnheader", { name: /Variance/ }).getAttribute("aria-sort")).toBe("ascending");
  await user.click(screen.getByRole("button", { name: "Age" }));
  expect(screen.getByRole("columnheader", { name: /Variance/ }).getAttribute("aria-sort")).toBe("none");
  await user.keyboard("{Shift>}");
  await user.click(screen.getByRole("button", { name: "Cur, Currency" }));
  await user.keyboard("{/Shift}");
  expect(useViews.getState().setup.sort.map(({ id }) => id)).toEqual(["age", "currency"]);
});

test("“Large” has the largest first in each currency, whichever side it is on, and “Oldest first” the oldest", async () => {
  const large = (id: string, currency: string, amount: string, submitted_at = "2026-10-05T00:00:00Z") =>
    deckRow(id, { currency, amount, submitted_at, traits: ["LARGE"] });
  const rows = [
    large("a", "USD", "9007199254740992.01", "2026-09-05T00:00:00Z"),
    large("b", "USD", "-9007199254740992.02"),
    large("c", "EUR", "-7.00", "2026-08-05T00:00:00Z"),
    large("d", "EUR", "80.00"),
    large("e", "USD", "500000.00"),
  ];
  const { user } = await openReview(rows);
  await user.click(screen.getByTestId("view-large"));
  expect(lines()).toEqual(["d", "c", "b", "a", "e"]);
  expect(screen.getByRole("columnheader", { name: /Variance/ }).getAttribute("aria-sort")).toBe("descending");
  await user.click(screen.getByTestId("view-oldest"));
  expect(lines()).toEqual(["c", "a", "b", "d", "e"]);
});

test("the header is one stop, and the keyboard moves, widens and hides columns", async () => {
  const { user } = await openReview();
  const header = within(screen.getByTestId("grid")).getAllByRole("row")[0] as HTMLElement;
  expect(
    within(header)
      .getAllByRole("button")
      .concat(within(header).getByRole("checkbox"))
      .filter(({ tabIndex }) => tabIndex === 0),
  ).toHaveLength(1);
  within(header).getByRole("checkbox").focus();
  await user.keyboard("{ArrowRight}{ArrowRight}");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Entity" }));
  await user.keyboard("{Alt>}{ArrowRight}{/Alt}");
  expect(useViews.getState().setup.columns.order.slice(0, 3)).toEqual(["kind", "counterparty", "entity"]);
  await user.keyboard("{Control>}{ArrowRight}{/Control}");
  expect(useViews.getState().setup.columns.widths.entity).toBeGreaterThan(0);
  await user.keyboard("{Shift>}{F10}{/Shift}");
  await user.click(await screen.findByTestId("column-hide"));
  expect(screen.queryByRole("button", { name: "Entity" })).toBeNull();
  await user.keyboard("{ArrowDown}");
  expect(document.activeElement?.getAttribute("role")).toBe("row");
});

test("a column's filter is entered by keyboard, shown, and taken away", async () => {
  const { user } = await openReview();
  screen.getByRole("button", { name: "Variance" }).focus();
  await user.keyboard("{Shift>}{F10}{/Shift}");
  await user.click(await screen.findByTestId("column-filter"));
  await user.keyboard("10,5{Enter}");
  expect(screen.getByText(/as amounts are shown here|read in two ways/)).toBeTruthy();
  await user.keyboard("{Backspace}{Backspace}.5{Enter}");
  await waitFor(() => expect(lines()).toEqual(["b", "c", "d"]));
  expect(screen.getByTestId("filter-count").textContent).toBe("3 of 4");
  expect(screen.getByTestId("view-modified")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: /Clear this filter: Variance from 10.5/ }));
  expect(lines()).toHaveLength(4);
});

test("view, selection and cursor come back, without what has left the deck", async () => {
  renderWith(fakeIpc(ROWS), <ReviewScreen session={SESSION} />);
  uiState.load(
    JSON.stringify({
      review: {
        current: "oldest",
        setup: { ...EVERYTHING, sort: [{ id: "age", desc: true }], quick: "usd" },
        collapsed: [],
        cursor: "c",
        selected: ["a", "gone"],
      },
    }),
  );
  restoreReview();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-c")));
  await waitFor(() => expect([...useReview.getState().selection.selected]).toEqual(["a"]));
  expect(screen.getByTestId<HTMLInputElement>("filter").value).toBe("usd");
  expect(screen.getByTestId("view-oldest").getAttribute("aria-pressed")).toBe("true");
});

test("what is done is kept for the next window", async () => {
  const { user } = await openReview();
  await user.keyboard(" {ArrowDown}{Alt>}5{/Alt}");
  await waitFor(() =>
    expect(uiState.read("review", (value) => value)).toMatchObject({ selected: ["a"], cursor: "b" }),
  );
});

test("a row that arrives while the dialog is open is not in the batch", async () => {
  const { user, ipc, client } = await openReview();
  await user.keyboard("{Control>}a{/Control}a");
  await screen.findByTestId("sign-dialog");
  ipc.deck.mockResolvedValue({ version: 2, rows: [deckRow("new"), ...ROWS] });
  await client.invalidateQueries({ queryKey: ["deck"] });
  await screen.findByTestId("row-new");
  await waitFor(() => expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(false));
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
  expect(ipc.sign.mock.calls[0]?.[0].ids.toSorted()).toEqual(["a", "b", "c", "d"]);
});

test("select all says to a screen reader that it took what the filter shows", async () => {
  const { user } = await openReview();
  await user.keyboard("/usd{Enter}{Control>}a{/Control}");
  await waitFor(() =>
    expect(screen.getByTestId("announcer").textContent).toBe(
      "2 selected: all that the filter shows. 2 more are in the deck and not selected.",
    ),
  );
});

test("what cannot be signed is counted by reason, and dropped with one key", async () => {
  const refusal = (label: string) => ({ kind: "REFUSAL" as const, label, explanation: `${label}.` });
  const rows = [
    deckRow("a", { marks: [refusal("You prepared it")] }),
    deckRow("b", { marks: [refusal("Period closed")] }),
    deckRow("c", { marks: [refusal("You prepared it")] }),
    deckRow("d", { age_days: 77 }),
  ];
  const { user } = await openReview(rows);
  await user.keyboard("{Control>}a{/Control}");
  expect(screen.getByTestId("selection-bar").textContent).toContain("oldest 77 d");
  await user.click(screen.getByTestId("refusals-button"));
  const reasons = (await screen.findByTestId("refusals")).querySelectorAll("li b");
  expect([...reasons].map(({ textContent }) => textContent)).toEqual([
    "2 · You prepared it",
    "1 · Period closed",
  ]);
  await user.keyboard("{Escape}");
  screen.getByTestId("row-a").focus();
  await user.keyboard("n");
  expect([...useReview.getState().selection.selected]).toEqual(["d"]);
});

test("the deck is exported as it is shown, and the path can be copied", async () => {
  const { user, ipc } = await openReview();
  await user.keyboard("/usd{Enter}");
  await user.click(screen.getByTestId("sheet-menu"));
  await user.click(await screen.findByTestId("export-xlsx"));
  await waitFor(() => expect(ipc.exportDeck).toHaveBeenCalledWith(["a", "c"], "XLSX"));
  const toast = await screen.findByTestId("toast");
  expect(toast.textContent).toContain(
    "2 of 4 in the deck exported to /home/me/Documents/Countersign/receipt.pdf",
  );
  expect(within(toast).getByTestId("toast-more").textContent).toBe("Copy path");
  ipc.exportDeck.mockRejectedValue({ code: "DISK_FULL", message: "The disk is full." });
  await user.click(screen.getByTestId("sheet-menu"));
  await user.click(await screen.findByTestId("export-csv"));
  await waitFor(() => expect(screen.getAllByTestId("toast")[0]?.textContent).toContain("The disk is full."));
});

test("a shipped view is opened by its tab and saved under a name of its own", async () => {
  const rows = [deckRow("a"), deckRow("b", { traits: ["LARGE"] })];
  const { user } = await openReview(rows);
  expect(screen.getByTestId("view-large").textContent).toBe("Large1");
  await user.click(screen.getByTestId("view-large"));
  expect(lines()).toEqual(["b"]);
  await user.click(screen.getByTestId("filter"));
  await user.keyboard("usd");
  await user.click(screen.getByTestId("view-save"));
  await user.keyboard("Large{Enter}");
  expect(screen.getByText(/already/)).toBeTruthy();
  await user.keyboard(" dollars{Enter}");
  expect((await screen.findByTestId("view-own-1")).textContent).toBe("Large dollars1");
  expect(screen.queryByTestId("view-modified")).toBeNull();
});

test("of 5,000 rows only the ones in sight are drawn, and the last one is a key away", async () => {
  const rows = Array.from({ length: 5_000 }, (_, place) => deckRow(`r${place}`));
  const { user } = await openReview(rows);
  expect(lines().length).toBeLessThan(60);
  await user.keyboard("{End}");
  expect(document.activeElement).toBe(screen.getByTestId("row-r4999"));
  expect(document.activeElement?.getAttribute("aria-rowindex")).toBe("5001");
});

test("a held key moves on but does not act again", async () => {
  await openReview();
  const row = screen.getByTestId("row-a");
  fireEvent.keyDown(row, { key: " ", repeat: true });
  fireEvent.keyDown(row, { key: "ArrowDown", repeat: true });
  expect(useReview.getState().selection).toMatchObject({ cursor: "b", selected: new Set() });
});
