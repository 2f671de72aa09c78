import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "./App";
import { useFrame } from "./features/shell/frame-store";
import type { Changed } from "./generated/Changed";
import { deckRow, fakeIpc, renderWith, SESSION } from "./test-deck";

beforeEach(() => useFrame.setState({ screen: "review", worksOffline: false, drain: null }));

function openApp(session = SESSION) {
  const ipc = fakeIpc([deckRow("a")]);
  ipc.session.mockResolvedValue(session);
  ipc.saveProfile.mockResolvedValue(session);
  let tell: (changed: Changed) => void = () => undefined;
  ipc.onChanged.mockImplementation(async (listener) => {
    tell = listener;
    return () => undefined;
  });
  renderWith(ipc, <App />);
  return { ipc, user: userEvent.setup(), tell: (changed: Changed) => act(async () => tell(changed)) };
}

test("only what changed and is on screen is read again", async () => {
  const { ipc, tell } = openApp();
  await screen.findByTestId("row-a");
  await tell({ deck: 1, outbox: 1, session: 1, drain: null });
  ipc.deck.mockClear();
  ipc.session.mockClear();
  await tell({ deck: 1, outbox: 2, session: 2, drain: null });
  await waitFor(() => expect(ipc.session).toHaveBeenCalledOnce());
  expect(ipc.deck).not.toHaveBeenCalled();
  // The outbox is not on screen.
  expect(ipc.outbox).not.toHaveBeenCalled();
  await tell({ deck: 2, outbox: 2, session: 2, drain: null });
  await waitFor(() => expect(ipc.deck).toHaveBeenCalledOnce());
});

test("closing shows how it goes, and can only be cut short", async () => {
  const { ipc, user, tell } = openApp();
  await screen.findByTestId("row-a");
  const drain = { unsent: 2, sent: 1, to_release: 5, gives_up_in_ms: 9_000, online: false, done: false };
  await tell({ deck: 1, outbox: 1, session: 1, drain });
  expect((await screen.findByTestId("drain-dialog")).textContent).toContain("Offline");
  await user.keyboard("{Escape}");
  expect(screen.getByTestId("drain-dialog")).toBeTruthy();
  await user.click(screen.getByTestId("drain-close-now"));
  expect(ipc.closeNow).toHaveBeenCalledOnce();
});

test("without a password the reviewer can go on with what is on this computer", async () => {
  const { user } = openApp({
    ...SESSION,
    needs: "PASSWORD",
    deck_count: 1,
    link: { ...SESSION.link, online: false },
  });
  await user.click(await screen.findByTestId("work-offline"));
  await screen.findByTestId("row-a");
  expect(screen.getByTestId("link-pill").dataset.online).toBe("false");
});

test("a refused connection is told beside the form, and the fields stay", async () => {
  const { ipc, user } = openApp({ ...SESSION, needs: "PROFILE" });
  ipc.connect.mockRejectedValue({ code: "BAD_PASSWORD", message: "The server refused the password." });
  await user.type(await screen.findByTestId("name"), "Close");
  await user.type(screen.getByTestId("host"), "/run/postgresql");
  await user.type(screen.getByTestId("database"), "close");
  await user.type(screen.getByTestId("user"), "me");
  await user.type(screen.getByTestId("password"), "wrong");
  await user.click(screen.getByTestId("connect-submit"));
  await waitFor(() => expect(screen.getByTestId("connect-error").textContent).toContain("refused"));
  expect(ipc.saveProfile).toHaveBeenCalledOnce();
  expect(ipc.connect).toHaveBeenCalledExactlyOnceWith("Close", "wrong", false);
  expect(screen.getByTestId<HTMLInputElement>("host").value).toBe("/run/postgresql");
  expect(screen.queryByTestId("work-offline")).toBeNull();
});
