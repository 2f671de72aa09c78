import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { layoutStore } from "../../components/preferences-store";
import type { BacklogLine } from "../../generated/BacklogLine";
import type { BacklogView } from "../../generated/BacklogView";
import type { Focus } from "../../generated/Focus";
import type { FocusView } from "../../generated/FocusView";
import { groupsOf } from "../../ipc/browser/close";
import { deckRow, fakeIpc, renderWith } from "../../test-deck";
import { BacklogScreen } from "./BacklogScreen";
import { useBacklogChoice } from "./backlog-store";
import { EMPTY_DRAFT } from "./focus-draft";
import { useRecentFoci } from "./recent-foci";

function line(entity: string, tier: string, part: Partial<BacklogLine> = {}): BacklogLine {
  return {
    entity,
    tier,
    kind: "recon_break",
    currency: "USD",
    minor_units: 2,
    free: 10,
    free_amount: "1234.50",
    held: 0,
    held_amount: "0.00",
    mine: 0,
    ...part,
  };
}

const LINES = [
  line("de-01", "priority", { free: 3 }),
  line("de-01", "standard", { free: 30, held: 4, held_amount: "9.00", mine: 2 }),
  line("de-01", "standard", { currency: "EUR", free: 1, free_amount: "7.00" }),
  line("fr-02\u202E", "standard", { free: 5, currency: "JPY", minor_units: 0, free_amount: "48000" }),
];

const NOTHING: Focus = {
  entities: [],
  kinds: [],
  tiers: [],
  counterparties: [],
  currencies: [],
  amount_from: null,
  amount_to: null,
  due_from: null,
  due_to: null,
  at_most: null,
};

beforeEach(() => {
  layoutStore.load(null);
  useRecentFoci.setState({ foci: null });
  useBacklogChoice.setState({
    filter: "",
    sort: { column: "entity", descending: false },
    opened: new Set(),
    chosen: new Map(),
    draft: EMPTY_DRAFT,
  });
});

function open(part: Partial<BacklogView> = {}, focus: FocusView | null = null) {
  const ipc = fakeIpc([deckRow("a"), deckRow("b")]);
  if (focus !== null) ipc.focus.mockResolvedValue(focus);
  const lines = part.lines ?? LINES;
  ipc.backlog.mockResolvedValue({
    as_of: "2026-10-05T08:00:00Z",
    stale: null,
    more: 0,
    lines,
    ...{ free: 39, held: 4, mine: 2 },
    groups: groupsOf(lines),
    ...part,
  });
  renderWith(ipc, <BacklogScreen />);
  return { ipc, user: userEvent.setup() };
}

const box = (entity: string, tier: string) =>
  within(screen.getByTestId(`backlog-${entity}-${tier}`)).getByRole<HTMLInputElement>("checkbox");

test("counts add up, and amounts of different currencies do not", async () => {
  open();
  const row = await screen.findByTestId("backlog-de-01-standard");
  const cells = within(row)
    .getAllByRole("cell")
    .map((cell) => cell.textContent);
  expect(cells).toEqual(["Standard", "31", "USD 1,234.50 · EUR 7.00", "4", "USD 9.00", "2"]);
  expect(screen.getByTestId("backlog").textContent).toContain("39 free · 4 held · 2 mine");
  expect(screen.getByTestId("backlog").textContent).toContain("fr-02<U+202E>");
});

test("a currency of several kinds is told with the sum that comes with it, also under a filter", async () => {
  const lines = [
    line("de-01", "standard", { free: 2, free_amount: "9007199254740993.10", held: 1, held_amount: "0.20" }),
    line("de-01", "standard", {
      kind: "receipt",
      free: 3,
      free_amount: "0.05",
      held: 1,
      held_amount: "1.00",
    }),
    line("fr-01", "standard", { currency: "EUR" }),
  ];
  const { user } = open({ lines });
  await screen.findByTestId("backlog-fr-01-standard");
  await user.type(screen.getByTestId("backlog-filter"), "receipt");
  await waitFor(() => expect(screen.queryByTestId("backlog-fr-01-standard")).toBeNull());
  const row = screen.getByTestId("backlog-de-01-standard");
  const cells = within(row)
    .getAllByRole("cell")
    .map((cell) => cell.textContent);
  expect(cells).toEqual(["Standard", "5", "USD 9,007,199,254,740,993.15", "2", "USD 1.20", "0"]);
  // Choosing it chooses what it says.
  await user.click(box("de-01", "standard"));
  expect(useBacklogChoice.getState().chosen.size).toBe(2);
});

test("by keyboard a row opens to its kinds and currencies, and is chosen", async () => {
  const { user } = open();
  await screen.findByTestId("backlog-de-01-standard");
  box("de-01", "priority").focus();
  await user.keyboard("j{ArrowRight}");
  expect(document.activeElement).toBe(box("de-01", "standard"));
  await user.keyboard("jj ");
  expect(document.activeElement?.getAttribute("aria-label")).toContain("Break · EUR");
  expect(useBacklogChoice.getState().draft).toMatchObject({
    entities: ["de-01"],
    tiers: ["standard"],
    kinds: ["recon_break"],
    currencies: "EUR",
  });
  expect(box("de-01", "standard").indeterminate).toBe(true);
});

test("rows that are chosen whole say nothing of kind and currency, and what comes along is marked", async () => {
  const { user } = open();
  await screen.findByTestId("backlog-de-01-standard");
  await user.click(box("de-01", "priority"));
  await user.click(box("fr-02\u202E", "standard"));
  expect(useBacklogChoice.getState().draft).toMatchObject({
    entities: ["de-01", "fr-02\u202E"],
    tiers: ["priority", "standard"],
    kinds: [],
    currencies: "",
  });
  expect(screen.getByTestId("backlog-de-01-standard").textContent).toContain("also");
  expect(screen.getByRole("region", { name: "Focus" }).textContent).toContain("39 free and 4 held");
});

test("a focus is set, and what is outside of it is given back only when that is said", async () => {
  const { ipc, user } = open();
  const wanted = { ...NOTHING, entities: ["de-01"], tiers: ["priority"], amount_from: "10.50", at_most: 20 };
  ipc.setFocus.mockImplementation(async (focus, giveBack) => ({
    focus,
    label: "de-01, priority",
    outside: giveBack ? 0 : 2,
  }));
  await screen.findByTestId("backlog-de-01-standard");
  await user.click(box("de-01", "priority"));
  await user.type(screen.getByTestId("focus-amountFrom"), "10.50");
  await user.type(screen.getByTestId("focus-atMost"), "20");
  await user.click(screen.getByTestId("set-focus"));
  const dialog = await screen.findByTestId("give-back");
  expect(ipc.setFocus).toHaveBeenCalledExactlyOnceWith(wanted, false);
  expect(dialog.textContent).toContain("2 undecided exceptions of the deck are outside of “de-01, priority”");
  await user.click(screen.getByTestId("give-back-confirm"));
  await waitFor(() => expect(ipc.setFocus).toHaveBeenLastCalledWith(wanted, true));
  expect(layoutStore.read("foci", (value) => value)).toEqual([{ label: "de-01, priority", focus: wanted }]);
  expect(screen.getByTestId("focus-in-force").textContent).toContain("de-01, priority");
});

test("leaving a focus offers to return what was not decided", async () => {
  const { ipc, user } = open(
    {},
    { focus: { ...NOTHING, tiers: ["priority"] }, label: "priority", outside: 0 },
  );
  await user.click(await screen.findByTestId("leave-focus"));
  const dialog = await screen.findByTestId("give-back");
  expect(ipc.setFocus).toHaveBeenCalledExactlyOnceWith(null, false);
  expect(ipc.release).not.toHaveBeenCalled();
  expect(dialog.textContent).toContain("2 undecided exceptions of the deck are left from “priority”");
  await user.click(screen.getByTestId("give-back-confirm"));
  await waitFor(() => expect(ipc.release).toHaveBeenCalledExactlyOnceWith(["a", "b"]));
});

test("a field that does not read keeps the focus from being set, and says what it expects", async () => {
  const { ipc, user } = open();
  await screen.findByTestId("backlog-de-01-standard");
  await user.type(screen.getByTestId("focus-dueTo"), "31.10.2026");
  expect(screen.getByTestId("focus-dueTo").getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByRole("region", { name: "Focus" }).textContent).toContain("A day such as 2026-10-31.");
  expect(screen.getByTestId<HTMLButtonElement>("set-focus").disabled).toBe(true);
  expect(ipc.setFocus).not.toHaveBeenCalled();
});

test("what is out of date, empty or unreadable is said", async () => {
  open({ stale: "Offline: as it was last heard of", lines: [], more: 0 });
  await waitFor(() =>
    expect(screen.getByTestId("backlog-empty").textContent).toContain("Nothing is pending"),
  );
  expect(screen.getByTestId("backlog").textContent).toContain("Offline: as it was last heard of");
});

test("a failure can be tried again", async () => {
  const { ipc, user } = open();
  await screen.findByTestId("backlog-de-01-standard");
  ipc.backlog.mockRejectedValueOnce({ code: "UNREACHABLE", message: "The database does not answer." });
  await user.click(screen.getByTestId("refresh"));
  await waitFor(() => expect(screen.getByTestId("backlog").textContent).toContain("does not answer"));
  // What was read before stays in sight.
  expect(screen.getByTestId("backlog-de-01-standard")).toBeTruthy();
  await user.click(screen.getByTestId("refresh"));
  await waitFor(() => expect(screen.getByTestId("backlog").textContent).not.toContain("does not answer"));
});

test("two thousand lines are a few rows in the document", async () => {
  const lines = Array.from({ length: 2_000 }, (_, place) =>
    line(`e-${String(place).padStart(4, "0")}`, "standard"),
  );
  const { user } = open({ lines });
  await screen.findByTestId("backlog-e-0000-standard");
  expect(document.querySelectorAll('[data-testid^="backlog-e-"]').length).toBeLessThan(60);
  expect(screen.getByRole("table", { name: "Backlog" }).getAttribute("aria-rowcount")).toBe("2001");
  await user.type(screen.getByTestId("backlog-filter"), "e-1999");
  expect(await screen.findByTestId("backlog-e-1999-standard")).toBeTruthy();
});
