import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { ImportView } from "../../generated/ImportView";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "../review/ReviewScreen";
import { useReview } from "../review/review-store";

const VIEW: ImportView = {
  file: "deck.xlsx",
  rows: 4,
  undecided: 1,
  groups: [
    { decision: "APPROVE", reason: null, comment: "agreed", ids: ["a"], totals: [] },
    { decision: "REJECT", reason: "WRONG_AMOUNT", comment: null, ids: ["b"], totals: [] },
  ],
  differences: [{ row: 2, id: "a", column: "Variance", in_file: "=1+1", in_deck: "10.00" }],
  problems: [{ row: 4, id: null, message: "Row 4 names no exception." }],
};

/** The DOM of the tests knows files without their bytes. */
function spreadsheet(text: string, name = "deck.xlsx"): File {
  const bytes = new TextEncoder().encode(text);
  return Object.assign(new File([text], name), { arrayBuffer: async () => bytes.buffer });
}

async function openImport() {
  const ipc = fakeIpc([deckRow("a"), deckRow("b"), deckRow("c")]);
  ipc.readDecisions.mockResolvedValue(VIEW);
  const user = userEvent.setup();
  renderWith(ipc, <ReviewScreen session={SESSION} />);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  await user.keyboard("{ArrowDown}{ArrowDown} ");
  useReview.getState().openImport();
  const input = await screen.findByTestId<HTMLInputElement>("import-file");
  return { user, ipc, input };
}

test("a spreadsheet is previewed, a group goes to the dialog with what the file says, and the rest comes back", async () => {
  const { user, ipc, input } = await openImport();
  await user.upload(input, spreadsheet("PK"));
  await screen.findByTestId("import-groups");
  expect(ipc.readDecisions.mock.calls[0]?.[0]).toBe("deck.xlsx");
  expect([...(ipc.readDecisions.mock.calls[0]?.[1] ?? [])]).toEqual([80, 75]);
  expect(screen.getByTestId("import-problems").textContent).toContain("Row 4 names no exception.");
  expect(screen.getByTestId("import-differences").textContent).toContain("=1+1");

  await user.click(screen.getByTestId("import-sign-REJECT"));
  await screen.findByTestId("sign-dialog");
  await waitFor(() => expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(false));
  ipc.readDecisions.mockResolvedValue({ ...VIEW, groups: VIEW.groups.slice(0, 1) });
  await user.click(screen.getByTestId("sign-confirm"));
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
  expect(ipc.sign.mock.calls[0]?.[0]).toMatchObject({
    ids: ["b"],
    decision: "REJECT",
    reason: "WRONG_AMOUNT",
  });

  await waitFor(() => expect(screen.queryByTestId("import-sign-REJECT")).toBeNull());
  expect(await screen.findByTestId("import-sign-APPROVE")).toBeTruthy();
  // What was selected in the grid is another matter.
  expect([...useReview.getState().selection.selected]).toEqual(["c"]);
});

test("a file that does not read is told, and another can be chosen", async () => {
  const { user, ipc, input } = await openImport();
  ipc.readDecisions.mockRejectedValueOnce({ code: "UNREADABLE", message: "deck.xlsx is no spreadsheet." });
  await user.upload(input, spreadsheet("?"));
  expect((await screen.findByTestId("import-error")).textContent).toContain("no spreadsheet");
  await user.upload(screen.getByTestId("import-file"), spreadsheet("PK"));
  await screen.findByTestId("import-groups");
  expect(screen.queryByTestId("import-error")).toBeNull();
});

test("a file over the bound is not read", async () => {
  const { user, ipc, input } = await openImport();
  const file = spreadsheet("x", "deck.csv");
  Object.defineProperty(file, "size", { value: 20_000_001 });
  await user.upload(input, file);
  expect((await screen.findByTestId("import-error")).textContent).toContain("at most 20000000 are read");
  expect(ipc.readDecisions).not.toHaveBeenCalled();
});
