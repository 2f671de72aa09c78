import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Toasts } from "../../components/Toasts";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "../review/ReviewScreen";

async function openDialog(key: "a" | "r") {
  const ipc = fakeIpc([deckRow("a"), deckRow("b"), deckRow("c")]);
  const user = userEvent.setup();
  renderWith(
    ipc,
    <>
      <ReviewScreen session={SESSION} />
      <Toasts />
    </>,
  );
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  await user.keyboard(` {ArrowDown} ${key}`);
  await screen.findByTestId("sign-dialog");
  return { user, ipc };
}

test("approving signs the frozen list with the hash total that was shown, and can be undone", async () => {
  const { user, ipc } = await openDialog("a");
  const comment = screen.getByTestId("sign-comment");
  await waitFor(() => expect(document.activeElement).toBe(comment));
  await waitFor(() => expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(false));
  await user.keyboard("seen{Control>}{Enter}{/Control}");
  await waitFor(() => expect(screen.queryByTestId("sign-dialog")).toBeNull());
  expect(ipc.sign).toHaveBeenCalledExactlyOnceWith({
    ids: ["a", "b"],
    decision: "APPROVE",
    reason: null,
    comment: "seen",
    hash_total: "hash of a b",
    policy_version: 3,
    typed_totals: [],
    figures: [],
  });
  expect(screen.getByTestId("toast").textContent).toContain("Signed 2");
  await user.click(screen.getByTestId("undo"));
  expect(ipc.undo).toHaveBeenCalledExactlyOnceWith("b1");
  await waitFor(() => expect(screen.getByTestId("toast").textContent).toContain("1 withdrawn"));
});

test("a rejection needs a reason", async () => {
  const { user, ipc } = await openDialog("r");
  await user.keyboard("{Control>}{Enter}{/Control}");
  expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(true);
  await user.click(screen.getByTestId("sign-reason"));
  await user.click(await screen.findByTestId("sign-reason-WRONG_AMOUNT"));
  await user.click(screen.getByTestId("sign-confirm"));
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
  expect(ipc.sign.mock.calls[0]?.[0]).toMatchObject({ decision: "REJECT", reason: "WRONG_AMOUNT" });
});

test("a failure is shown in the dialog, and nothing that was entered is lost", async () => {
  const { user, ipc } = await openDialog("a");
  ipc.sign.mockRejectedValueOnce({ code: "JOURNAL_FULL", message: "The disk is full: nothing was signed." });
  await user.type(screen.getByTestId("sign-comment"), "checked twice");
  await user.click(screen.getByTestId("sign-confirm"));
  await waitFor(() => expect(screen.getByTestId("sign-error").textContent).toContain("The disk is full"));
  expect(screen.getByTestId<HTMLTextAreaElement>("sign-comment").value).toBe("checked twice");
  expect(screen.getAllByRole("row", { selected: true, hidden: true })).toHaveLength(2);
  await waitFor(() => expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(false));
  await user.click(screen.getByTestId("sign-confirm"));
  await waitFor(() => expect(screen.queryByTestId("sign-dialog")).toBeNull());
  expect(ipc.sign).toHaveBeenCalledTimes(2);
});

test("Escape leaves without signing and gives the focus back to the grid", async () => {
  const { user, ipc } = await openDialog("a");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("sign-dialog")).toBeNull());
  expect(ipc.sign).not.toHaveBeenCalled();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-b")));
});

test("a corrected amount of a receipt is signed beside what was read, and a refusal keeps it", async () => {
  const ipc = fakeIpc([deckRow("a", { currency: "EUR" })]);
  const foresee = ipc.preflight.getMockImplementation();
  ipc.preflight.mockImplementation(async (ids, decision, figures) => ({
    ...(await (foresee ?? (() => Promise.reject(new Error("nothing is foreseen"))))(ids, decision, figures)),
    effects: [{ id: "a", words: "releases it to policy validation", figure: null, read: "1O.40 EUR" }],
  }));
  const user = userEvent.setup();
  renderWith(ipc, <ReviewScreen session={SESSION} />);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  await user.keyboard(" a");
  expect((await screen.findByTestId("effect-a")).textContent).toContain("read as 1O.40 EUR");
  await user.click(screen.getByTestId("figure-a-open"));
  await user.keyboard("10.4");
  ipc.sign.mockRejectedValueOnce({ code: "FIGURE_UNREADABLE", message: "It has 3 decimal places." });
  await user.keyboard("{Control>}{Enter}{/Control}");
  expect((await screen.findByTestId("figure-problem")).textContent).toContain("3 decimal places");
  expect(screen.getByTestId<HTMLInputElement>("figure-a-amount").value).toBe("10.4");
  await user.click(screen.getByTestId("figure-a-amount"));
  await user.keyboard("0{Control>}{Enter}{/Control}");
  await waitFor(() =>
    expect(ipc.sign).toHaveBeenLastCalledWith(
      expect.objectContaining({ figures: [{ id: "a", amount: "10.40", currency: "EUR" }] }),
    ),
  );
});

test("what is foreseen follows the amount that is entered, and the last answer stays meanwhile", async () => {
  const ipc = fakeIpc([deckRow("a", { currency: "EUR" })]);
  const foresee = ipc.preflight.getMockImplementation();
  let answer = () => {};
  ipc.preflight.mockImplementation(async (ids, decision, figures) => {
    const view = await (foresee ?? (() => Promise.reject(new Error("nothing is foreseen"))))(
      ids,
      decision,
      [],
    );
    const [own] = figures;
    if (own?.amount === "13.50") await new Promise<void>((resolve) => (answer = resolve));
    const with_ =
      own === undefined ? "12.50 EUR as it was read" : `${own.amount} ${own.currency}, 12.50 EUR was read`;
    const [group] = view.groups;
    const groups =
      group && own ? [{ ...group, outcome: "AWAITING_SECOND", label: "1 will wait" }] : view.groups;
    return {
      ...view,
      groups,
      effects: [{ id: "a", words: `releases it with ${with_}`, figure: null, read: "12.50 EUR" }],
    };
  });
  const user = userEvent.setup();
  renderWith(ipc, <ReviewScreen session={SESSION} />);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  await user.keyboard(" a");
  expect((await screen.findByTestId("effect-a")).textContent).toContain("12.50 EUR as it was read");
  await user.click(screen.getByTestId("figure-a-open"));
  await user.paste("13.50");
  await waitFor(() =>
    expect(ipc.preflight).toHaveBeenLastCalledWith(["a"], "APPROVE", [
      { id: "a", amount: "13.50", currency: "EUR" },
    ]),
  );
  expect(screen.getByTestId("effect-a").textContent).toContain("12.50 EUR as it was read");
  expect(screen.getByTestId("preflight-COMMITTED")).toBeTruthy();
  answer();
  expect((await screen.findByTestId("preflight-AWAITING_SECOND")).textContent).toContain("1 will wait");
  expect(screen.getByTestId("effect-a").textContent).toContain("13.50 EUR, 12.50 EUR was read");
});
