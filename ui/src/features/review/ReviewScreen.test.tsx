import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Toasts } from "../../components/Toasts";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "./ReviewScreen";

const ROWS = ["a", "b", "c", "d"].map((id) => deckRow(id, { currency: id < "c" ? "USD" : "EUR" }));

async function openReview(ipc = fakeIpc(ROWS)) {
  const user = userEvent.setup();
  const client = renderWith(
    ipc,
    <>
      <ReviewScreen session={SESSION} />
      <Toasts />
    </>,
  );
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  return { user, ipc, client };
}

function selected(): string {
  return screen
    .getAllByRole("row", { selected: true })
    .map((row) => row.dataset.id)
    .join("");
}

test("one row is in the tab order, and the arrows move it", async () => {
  const { user } = await openReview();
  await user.keyboard("{ArrowDown}j");
  expect(document.activeElement).toBe(screen.getByTestId("row-c"));
  const stops = within(screen.getByTestId("grid"))
    .getAllByRole("row")
    .filter(({ tabIndex }) => tabIndex === 0);
  expect(stops.map((row) => row.dataset.id)).toEqual(["c"]);
  await user.keyboard("{Home}k{End}");
  expect(document.activeElement).toBe(screen.getByTestId("row-d"));
});

test("Space toggles, Shift extends, Escape clears", async () => {
  const { user } = await openReview();
  await user.keyboard(" {ArrowDown}{ArrowDown}{Shift>}{ArrowDown}{/Shift}");
  expect(selected()).toBe("acd");
  await user.keyboard("{Escape}");
  expect(screen.queryAllByRole("row", { selected: true })).toEqual([]);
});

test("clicks move, Ctrl toggles and Shift takes a range", async () => {
  const { user } = await openReview();
  await user.click(screen.getByTestId("row-b"));
  expect(screen.queryAllByRole("row", { selected: true })).toEqual([]);
  await user.keyboard("{Shift>}");
  await user.click(screen.getByTestId("row-d"));
  await user.keyboard("{/Shift}{Control>}");
  await user.click(screen.getByTestId("row-c"));
  await user.keyboard("{/Control}");
  expect(selected()).toBe("bd");
});

test("letters in the filter are text, and Ctrl+A selects only what it shows", async () => {
  const { user, ipc } = await openReview();
  await user.keyboard("/");
  await user.keyboard("usd");
  expect(screen.getByTestId<HTMLInputElement>("filter").value).toBe("usd");
  expect(screen.getByTestId("filter-count").textContent).toBe("2 of 4");
  await user.keyboard("{Enter}{Control>}a{/Control}");
  expect(selected()).toBe("ab");
  expect(screen.getByTestId("selection-bar").textContent).toContain("All 2 shown of 4");
  expect(ipc.sign).not.toHaveBeenCalled();
});

test("what the filter hides is not signed until it is dropped", async () => {
  const { user } = await openReview();
  await user.keyboard("{Control>}a{/Control}/eur{Enter}a");
  expect(screen.queryByTestId("sign-dialog")).toBeNull();
  expect(screen.getByTestId("blocked-dialog").textContent).toContain("hidden by the filter");
  await user.keyboard("{Escape}");
  expect(screen.getByTestId("approve").hasAttribute("disabled")).toBe(true);
  expect(screen.getByTestId("selection-bar").textContent).toContain("2 hidden by the filter");
  await user.click(screen.getByTestId("drop-hidden"));
  expect(selected()).toBe("cd");
  await waitFor(() => expect(screen.getByTestId("approve").hasAttribute("disabled")).toBe(false));
});

test("a selection survives a refresh and loses what left the deck", async () => {
  const { user, ipc, client } = await openReview();
  await user.keyboard("{Control>}a{/Control}");
  ipc.deck.mockResolvedValue({ version: 2, rows: ROWS.slice(1) });
  await client.invalidateQueries({ queryKey: ["deck"] });
  await waitFor(() => expect(selected()).toBe("bcd"));
  expect(document.activeElement).toBe(screen.getByTestId("row-b"));
});

test("keys go on working when the last row has left the deck", async () => {
  const { user, ipc, client } = await openReview();
  ipc.deck.mockResolvedValue({ version: 9, rows: [] });
  await client.invalidateQueries();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("grid")));
  await user.keyboard("/");
  expect(document.activeElement).toBe(screen.getByTestId("filter"));
});

test("a split group cannot be signed and can be completed", async () => {
  const rows = ["a", "b", "c"].map((id) => deckRow(id, { group: id === "c" ? null : "report" }));
  const ipc = fakeIpc(rows);
  const whole = ipc.totals.getMockImplementation();
  ipc.totals.mockImplementation(async (ids) => {
    const totals = await whole?.(ids);
    if (totals === undefined) throw new Error("no totals");
    return { ...totals, split_groups: ids.length === 1 ? [...ids] : [] };
  });
  const { user } = await openReview(ipc);
  await user.keyboard(" ");
  await user.click(await screen.findByTestId("select-group"));
  expect(selected()).toBe("ab");
  await waitFor(() => expect(screen.getByTestId("approve").hasAttribute("disabled")).toBe(false));
});

test("what is typed for a dialog that did not open is no shortcut", async () => {
  const { user, ipc } = await openReview();
  await user.keyboard("{ArrowDown}a");
  const dialog = screen.getByTestId("blocked-dialog");
  expect(dialog.textContent).toContain("Nothing is selected.");
  await user.keyboard("jek agreed r u{Enter}");
  expect(screen.getByTestId("blocked-dialog")).toBe(dialog);
  expect(ipc.release).not.toHaveBeenCalled();
  expect(screen.queryByTestId("sign-dialog")).toBeNull();
  await user.keyboard("{Escape}");
  expect(screen.queryByTestId("blocked-dialog")).toBeNull();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-b")));
  expect(screen.queryAllByRole("row", { selected: true })).toEqual([]);
});

test("Ctrl+A in a heading selects rows, and a bare letter there does nothing", async () => {
  const { user } = await openReview();
  screen.getByTestId("select-all").focus();
  await user.keyboard("a");
  expect(screen.queryByTestId("blocked-dialog")).toBeNull();
  await user.keyboard("{ArrowRight}{Control>}a{/Control}");
  expect(selected()).toBe("abcd");
});
