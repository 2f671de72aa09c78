import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../App";
import type { SessionView } from "../../generated/SessionView";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { useFrame } from "./frame-store";

beforeEach(() =>
  useFrame.setState({ screen: "review", worksOffline: false, drain: null, signOutAsked: false }),
);

async function ask(session: SessionView) {
  const ipc = fakeIpc([deckRow("a")]);
  ipc.session.mockResolvedValue(session);
  renderWith(ipc, <App />);
  const user = userEvent.setup();
  (await screen.findByTestId("sign-out")).focus();
  await user.keyboard("{Enter}");
  return { ipc, user, dialog: await screen.findByTestId("sign-out-dialog") };
}

test("signing out says what happens, and leads back to the profile", async () => {
  const { ipc, user, dialog } = await ask({ ...SESSION, deck_count: 1, unsent: 2, dead: 1 });
  expect(dialog.textContent).toContain("1 undecided exception goes back to your colleagues at once.");
  expect(dialog.textContent).toContain("3 decisions are unsent");
  let finish: (session: SessionView) => void = () => undefined;
  ipc.signOut.mockImplementation(
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  await user.click(screen.getByTestId("sign-out-confirm"));
  // It can be cut short, not taken back.
  await user.keyboard("{Escape}");
  await user.click(await screen.findByTestId("stop-waiting"));
  expect(ipc.stopWaiting).toHaveBeenCalledOnce();
  finish({
    ...SESSION,
    needs: "PROFILE",
    leaving: { reason: "SIGNED_OUT", profile: "Close", message: "Gone back.", unsent: 3, export: null },
  });
  await screen.findByTestId("connect-form");
  expect(screen.getByTestId("leaving-unsent").textContent).toContain("3 unsent decisions");
  expect(screen.queryByTestId("sign-out-dialog")).toBeNull();
});

test("the safe answer has the focus, and a failure is told", async () => {
  const { ipc, user } = await ask({ ...SESSION, link: { ...SESSION.link, online: false } });
  await waitFor(() => expect(document.activeElement?.textContent).toContain("Cancel"));
  ipc.signOut.mockRejectedValue({ code: "CLOSING", message: "Countersign is closing." });
  await user.click(screen.getByTestId("sign-out-confirm"));
  await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("is closing"));
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("sign-out-dialog")).toBeNull());
});

test("keys in a file are said for as long as they are there", async () => {
  const ipc = fakeIpc([deckRow("a")]);
  ipc.session.mockResolvedValue({ ...SESSION, keys_in_file: true });
  renderWith(ipc, <App />);
  const user = userEvent.setup();
  (await screen.findByTestId("keys-in-file")).focus();
  await user.keyboard("{Enter}");
  expect((await screen.findByTestId("keys-dialog")).textContent).toContain("only your login can read");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("keys-dialog")).toBeNull());
});
