import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { useToasts } from "../../components/toast-store";
import type { LetterRow } from "../../generated/LetterRow";
import type { LetterView } from "../../generated/LetterView";
import { fakeIpc, renderWith, SESSION } from "../../test-deck";
import { NOTHING_SELECTED } from "../review/selection";
import { LettersScreen } from "./LettersScreen";
import { useLetterDesk } from "./letters-store";
import { deskView, letterRow, letterView } from "./test-letters";

beforeEach(() => {
  useLetterDesk.setState({
    cause: null,
    done: false,
    filter: "",
    selection: NOTHING_SELECTED,
    drafts: new Map(),
    editing: null,
    question: null,
    focusRequests: 0,
  });
});

const ROWS = ["l1", "l2", "l3"].map((id) => letterRow(id));
const session = { ...SESSION, desk: true };

async function open(rows: LetterRow[] = ROWS, view: Partial<LetterView> = {}) {
  const ipc = fakeIpc([]);
  let mine = false;
  const row = () => letterRow("l1", mine ? { status: "TAKEN", status_words: "Taken by you", mine } : {});
  ipc.letters.mockImplementation(async () => deskView(rows.map((each) => (each.id === "l1" ? row() : each))));
  ipc.letter.mockImplementation(async (id) =>
    letterView({ row: id === "l1" ? row() : letterRow(id), ...view }),
  );
  ipc.takeLetters.mockImplementation(async (ids) => {
    mine = true;
    const letters = ids.map((id) => ({
      id,
      outcome: "TAKEN",
      passes: true,
      words: "Taken by you.",
      field: null,
    }));
    return { letters, message: "1 taken.", wait_ms: null };
  });
  const user = userEvent.setup();
  renderWith(ipc, <LettersScreen session={session} />);
  await screen.findByTestId("letters");
  useLetterDesk.getState().focusRows();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("letter-l1")));
  await screen.findByTestId("letter-reason");
  return { ipc, user };
}

test("without the right to it there is no desk, and nothing is asked for", () => {
  const ipc = fakeIpc([]);
  renderWith(ipc, <LettersScreen session={SESSION} />);
  expect(screen.getByTestId("letters-no-right").textContent).toContain("no right to the desk");
  expect(ipc.letters).not.toHaveBeenCalled();
});

test("nothing dead is said as such, and a failure with a way on", async () => {
  const ipc = fakeIpc([]);
  ipc.letters.mockRejectedValueOnce({ code: "OFFLINE", message: "The desk is in the database." });
  ipc.letters.mockResolvedValue(deskView([]));
  const user = userEvent.setup();
  // Without a connection it is asked once, and not again by itself.
  renderWith(ipc, <LettersScreen session={{ ...session, link: { ...session.link, online: false } }} />);
  expect((await screen.findByTestId("letters-failure")).textContent).toContain(
    "The desk is in the database.",
  );
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect((await screen.findByTestId("letters-empty")).textContent).toContain("Nothing is dead");
});

test("a letter is taken, corrected in the field at fault, and kept, without the mouse", async () => {
  const { ipc, user } = await open();
  ipc.fixLetter.mockImplementation(async () => letterView({ revision: 3 }));
  await user.keyboard("{Enter}");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("field-amount")));
  expect(ipc.takeLetters).toHaveBeenCalledExactlyOnceWith(["l1"], false);
  expect(screen.getByTestId("letter-problem").textContent).toContain("you will not be able to sign it");
  await user.keyboard("{Control>}a{/Control}1.01");
  expect(screen.getByTestId("letter-unsaved").textContent).toContain("1.01");
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() =>
    expect(ipc.fixLetter).toHaveBeenCalledExactlyOnceWith({
      id: "l1",
      revision: 2,
      edits: [{ path: "amount", value: "1.01", text: true }],
      body: null,
    }),
  );
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("letter-l1")));
});

test("what was written survives leaving it, and is dropped on demand alone", async () => {
  const { user } = await open();
  await user.keyboard("{F2}");
  await screen.findByTestId("letter-editor");
  await user.keyboard("{Control>}a{/Control}7{Escape}");
  await waitFor(() => expect(screen.queryByTestId("letter-editor")).toBeNull());
  expect(screen.getByTestId("letter-l1").textContent).toContain("Not saved");
  await user.keyboard("j");
  await user.keyboard("k");
  await user.keyboard("{F2}");
  expect((await screen.findByTestId<HTMLInputElement>("field-amount")).value).toBe("7");
  await user.click(screen.getByTestId("letter-drop"));
  expect(screen.getByTestId<HTMLInputElement>("field-amount").value).toBe("1.005");
});

test("two corrections are shown beside each other, and mine is kept on top only when that is said", async () => {
  const { ipc, user } = await open();
  ipc.fixLetter.mockRejectedValueOnce({
    code: "REVISION_CONFLICT",
    message: "Somebody else corrected it meanwhile.",
  });
  await user.keyboard("{Enter}");
  await screen.findByTestId("letter-editor");
  await user.keyboard("{Control>}a{/Control}1.01");
  const changes = [{ path: "amount", before: "1.005", after: "1.00" }];
  ipc.letter.mockResolvedValue(
    letterView({
      row: letterRow("l1", { status: "TAKEN", mine: true }),
      revision: 3,
      corrections: [{ revision: 3, by: "erin", at: "2026-10-05T09:00:00Z", changes }],
    }),
  );
  await user.keyboard("{Control>}{Enter}{/Control}");
  const conflict = await screen.findByTestId("letter-conflict");
  expect(
    within(conflict)
      .getAllByRole("cell")
      .map((cell) => cell.textContent),
  ).toEqual(["1.00", "1.01"]);
  expect(screen.getByTestId<HTMLButtonElement>("letter-save").disabled).toBe(true);
  await user.click(screen.getByTestId("conflict-keep"));
  ipc.fixLetter.mockResolvedValue(letterView({ revision: 4 }));
  await user.click(screen.getByTestId("letter-save"));
  await waitFor(() =>
    expect(ipc.fixLetter).toHaveBeenLastCalledWith(expect.objectContaining({ revision: 3 })),
  );
});

test("what is taken by somebody else is not corrected, and it is said why", async () => {
  const taken = letterRow("l2", { status: "TAKEN", status_words: "Taken by erin", owner: "erin" });
  const { ipc, user } = await open([letterRow("l1"), taken]);
  await user.keyboard("j{Enter}");
  await waitFor(() => expect(useToasts.getState().toasts[0]?.text).toContain("Taken by erin"));
  expect(ipc.takeLetters).not.toHaveBeenCalled();
});

test("a replay rehearses first, sends what would go in, and waits when it is told to", async () => {
  const { ipc, user } = await open();
  const told = (id: string, passes: boolean) => ({
    id,
    outcome: passes ? "ENQUEUED" : "REFUSED",
    passes,
    words: passes ? "As a new exception." : "Nobody knows the vendor.",
    field: null,
  });
  ipc.rehearseLetters.mockResolvedValue({
    letters: [told("l1", true), told("l2", false), told("l3", true)],
    message: "",
    wait_ms: null,
  });
  ipc.replayLetters.mockResolvedValueOnce({ letters: [told("l1", true)], message: "", wait_ms: 20 });
  ipc.replayLetters.mockResolvedValueOnce({ letters: [told("l3", true)], message: "", wait_ms: null });
  await user.keyboard("{Control>}a{/Control}e");
  expect((await screen.findByTestId("replay-sum")).textContent).toBe("2 would go in, 1 would stay.");
  expect(screen.getByTestId("replay-stays").textContent).toContain("Nobody knows the vendor.");
  expect(ipc.replayLetters).not.toHaveBeenCalled();
  expect(screen.getByRole("heading", { name: "Rehearsal of 3 letters" })).toBeTruthy();
  ipc.letters.mockResolvedValue(deskView([letterRow("l2")]));
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(screen.getByTestId("replay-sum").textContent).toBe("2 went in, 0 stayed."));
  expect(ipc.replayLetters.mock.calls.map(([ids]) => ids)).toEqual([["l1", "l3"], ["l3"]]);
  await waitFor(() => expect(screen.queryByTestId("letter-l1")).toBeNull());
  expect(screen.getByRole("heading", { name: "Replayed: 2 letters" })).toBeTruthy();
  expect(within(screen.getByTestId("replay-done")).getByText("key of l1")).toBeTruthy();
  expect(screen.queryByTestId("replay-confirm")).toBeNull();
  expect(screen.getByTestId("replay-close")).toBeTruthy();
});

test("a rehearsal of a list that a filter shows leaves out what it hides", async () => {
  const { ipc, user } = await open([...ROWS, letterRow("l4", { entity: "fr-02" })]);
  await user.keyboard("{Control>}a{/Control}/");
  await user.keyboard("fr-02{Enter}");
  await user.keyboard("e");
  await waitFor(() => expect(ipc.rehearseLetters).toHaveBeenCalledExactlyOnceWith(["l4"]));
});

test("discarding needs a reason, and says who has to agree", async () => {
  const { ipc, user } = await open();
  await user.keyboard("x");
  expect((await screen.findByTestId("discard-dialog")).textContent).toContain("somebody else has to agree");
  await user.keyboard("{Control>}{Enter}{/Control}");
  expect(ipc.discardLetters).not.toHaveBeenCalled();
  await user.keyboard("A test of the feed.");
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() =>
    expect(ipc.discardLetters).toHaveBeenCalledExactlyOnceWith(["l1"], "A test of the feed."),
  );
});

test("a cause is chosen by keyboard, and its letters have the keys then", async () => {
  const { ipc, user } = await open();
  await user.keyboard("g");
  expect(document.activeElement).toBe(screen.getByTestId("cause-all"));
  await user.keyboard("j{Enter}");
  await waitFor(() => expect(ipc.letters).toHaveBeenLastCalledWith({ causes: ["AMOUNT"], done: false }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("letter-l1")));
});
