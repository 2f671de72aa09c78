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
