import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../App";
import { uiState } from "../../components/ui-state";
import type { Focus } from "../../generated/Focus";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { useFrame } from "./frame-store";

beforeEach(() => {
  uiState.load(null);
  useFrame.setState({ screen: "review", worksOffline: false, drain: null });
});

function open(part: Partial<typeof SESSION> = {}) {
  const ipc = fakeIpc([deckRow("a")]);
  ipc.session.mockResolvedValue({ ...SESSION, deck_count: 1, ...part });
  ipc.backlog.mockResolvedValue({
    as_of: "2026-10-05T08:00:00Z",
    stale: null,
    lines: [],
    groups: [],
    free: 0,
    held: 0,
    mine: 0,
    more: 0,
  });
  renderWith(ipc, <App />);
  return { ipc, user: userEvent.setup() };
}

test("a navigation takes the keyboard to the heading, or to the grid", async () => {
  const { user } = open();
  await screen.findByTestId("row-a");
  await user.click(screen.getByTestId("nav-backlog"));
  await waitFor(() => expect(document.activeElement?.textContent).toBe("Backlog"));
  expect(document.activeElement?.tagName).toBe("H1");
  await user.click(screen.getByTestId("nav-review"));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
});

test("a screen is as it was left", async () => {
  const { user } = open();
  await user.click(await screen.findByTestId("nav-backlog"));
  await user.type(await screen.findByTestId("backlog-filter"), "onrr");
  await user.click(screen.getByTestId("nav-sync"));
  await user.click(screen.getByTestId("nav-backlog"));
  expect(screen.getByTestId<HTMLInputElement>("backlog-filter").value).toBe("onrr");
});

test("the screen survives a crash; what no screen is called does not", () => {
  useFrame.getState().show("close");
  useFrame.setState({ screen: "review" });
  useFrame.getState().restore();
  expect(useFrame.getState().screen).toBe("close");
  uiState.write("screen", "<script>");
  useFrame.getState().restore();
  expect(useFrame.getState().screen).toBe("close");
});

test("counts are read with what they mean, and the period with what is left of it", async () => {
  open({
    attention: 2,
    unsent: 3,
    period: {
      name: "2026-10",
      state: "closing",
      closes_at: new Date(Date.now() + 187_300_000).toISOString(),
    },
  });
  const sync = await screen.findByTestId("nav-sync");
  expect(screen.getByRole("button", { name: /^Sync.*3 not answered yet.*2 refused or given up/ })).toBe(sync);
  expect(screen.getByTestId("who").textContent).toContain("Period 2026-10");
  expect(screen.getByTestId("period-closes").textContent).toBe("closes in 2 d 4 h");
});

test("online is said without a clock that stands still", async () => {
  open({
    link: { online: true, problem: null, next_attempt_in_ms: null, last_contact: "2026-10-05T08:00:00Z" },
  });
  const pill = await screen.findByTestId("link-pill");
  expect(pill.textContent).toBe("Online");
  expect(pill.title).toContain("last answer");
});

test("the first tab stop skips to the screen", async () => {
  const { user } = open();
  await screen.findByTestId("row-a");
  (document.activeElement as HTMLElement | null)?.blur();
  screen.getByText("Skip to the screen").focus();
  await user.keyboard("{Enter}");
  expect(document.activeElement?.tagName).toBe("H1");
});

test("the header says how much of the deck is outside of the focus, and gives it back", async () => {
  const { ipc, user } = open({ focus: "de-01", deck_count: 100, queue_maxsize: 100, saturated: true });
  const focus: Focus = {
    entities: ["de-01"],
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
  ipc.focus.mockResolvedValue({ focus, label: "de-01", outside: 100 });
  await waitFor(() =>
    expect(screen.getByTestId("focus-pill").textContent).toContain("Focus: de-01 · 100 outside"),
  );
  await user.click(screen.getByTestId("give-back-outside"));
  await user.click(await screen.findByTestId("give-back-confirm"));
  await waitFor(() => expect(ipc.setFocus).toHaveBeenCalledExactlyOnceWith(focus, true));
  await waitFor(() => expect(screen.queryByTestId("give-back-outside")).toBeNull());
});

test("a warning is said whole until it is dismissed", async () => {
  const warning = `Your preferences could not be read and were put aside: ${"/long".repeat(60)}/preferences.json`;
  const { user } = open({ warnings: [warning] });
  await waitFor(() => expect(screen.getByTestId("warnings").textContent).toContain(warning));
  await user.click(screen.getByRole("button", { name: "Dismiss" }));
  expect(screen.getByTestId("warnings").textContent).toBe("");
});
