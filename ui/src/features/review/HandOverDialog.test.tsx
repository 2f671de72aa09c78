import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Toasts } from "../../components/Toasts";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "./ReviewScreen";

async function openDialog() {
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
  await user.keyboard(" {ArrowDown} h");
  await screen.findByTestId("hand-over-dialog");
  return { user, ipc };
}

test("handing over says that whole partitions go, and what came of it", async () => {
  const { user, ipc } = await openDialog();
  await waitFor(() =>
    expect(screen.getByTestId("hand-over-goes").textContent).toContain(
      "3 exceptions of the deck in 1 partition go to the colleague, 1 more than you selected",
    ),
  );
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("hand-over-to")));
  await user.keyboard("bob{Enter}");
  await waitFor(() => expect(screen.queryByTestId("hand-over-dialog")).toBeNull());
  expect(ipc.handOver).toHaveBeenCalledExactlyOnceWith(["a", "b"], "bob");
  expect(screen.getByTestId("toast").textContent).toContain("1 partition is with bob now.");
  expect(screen.queryAllByRole("row", { selected: true })).toEqual([]);
});

test("without a login, or when it is refused, nothing goes and the reason is told", async () => {
  const { user, ipc } = await openDialog();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("hand-over-to")));
  await user.keyboard("{Enter}");
  expect(screen.getByTestId("hand-over-error").textContent).toContain("login of the colleague");
  expect(ipc.handOver).not.toHaveBeenCalled();
  ipc.handOver.mockRejectedValueOnce({ code: "REFUSED", message: "zoe is no active reviewer." });
  await user.keyboard("zoe{Enter}");
  await waitFor(() => expect(screen.getByTestId("hand-over-error").textContent).toContain("no active"));
  expect(screen.getByTestId<HTMLInputElement>("hand-over-to").value).toBe("zoe");
  expect(screen.getAllByRole("row", { selected: true, hidden: true })).toHaveLength(2);
});
