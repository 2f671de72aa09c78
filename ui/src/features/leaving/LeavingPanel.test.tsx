import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../App";
import type { LeavingView } from "../../generated/LeavingView";
import { fakeIpc, renderWith, SESSION } from "../../test-deck";
import { useFrame } from "../shell/frame-store";

const EXPORT = { path: "/home/me/Documents/unsent.jsonl", count: 2, sha256: "ab".repeat(32) };
const LEAVING: LeavingView = {
  reason: "REVOKED",
  profile: "Close",
  message: "This workstation was revoked. What it had leased was removed from it.",
  unsent: 2,
  export: null,
};

beforeEach(() =>
  useFrame.setState({ screen: "review", worksOffline: false, drain: null, signOutAsked: false }),
);

function open(leaving: LeavingView) {
  const ipc = fakeIpc([]);
  let now = leaving;
  ipc.session.mockImplementation(async () => ({
    ...SESSION,
    needs: leaving.reason === "SIGNED_OUT" ? "PROFILE" : "NOTHING",
    link: { ...SESSION.link, online: false },
    leaving: now,
  }));
  ipc.exportOutbox.mockImplementation(async () => {
    now = { ...now, export: EXPORT };
    return EXPORT;
  });
  renderWith(ipc, <App />);
  return { ipc, user: userEvent.setup() };
}

test("unsent decisions are removed only after their export was acknowledged", async () => {
  const { ipc, user } = open(LEAVING);
  expect((await screen.findByTestId("leaving-unsent")).textContent).toContain("2 unsent decisions");
  expect(screen.getByTestId("link-pill").textContent).toBe("Revoked");
  const remove = screen.getByTestId("remove-everything");
  expect(remove.hasAttribute("disabled")).toBe(true);

  screen.getByTestId("export-outbox").focus();
  await user.keyboard("{Enter}");
  const check = await screen.findByTestId("acknowledge-export");
  expect(screen.getByTestId("exported").textContent).toContain(EXPORT.path);
  expect(check.closest("label")?.textContent).toContain("2 decisions");
  expect(check.closest("label")?.textContent).toContain(EXPORT.sha256.slice(0, 16));
  expect(screen.getByTestId("remove-everything").hasAttribute("disabled")).toBe(true);

  check.focus();
  await user.keyboard(" ");
  screen.getByTestId("remove-everything").focus();
  await user.keyboard("{Enter}");
  expect((await screen.findByTestId("remove-dialog")).textContent).toContain("export only");
  // The safe answer has the focus.
  await user.keyboard("{Escape}");
  expect(ipc.removeEverything).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("remove-everything"));
  await user.click(await screen.findByTestId("remove-confirm"));
  await waitFor(() => expect(ipc.removeEverything).toHaveBeenCalledExactlyOnceWith("Close", EXPORT.sha256));
  await waitFor(() => expect(screen.getByTestId("toast").textContent).toContain("Removed."));
});

test("what the journal says against it is shown in its words", async () => {
  const { ipc, user } = open({ ...LEAVING, reason: "SIGNED_OUT", unsent: 0 });
  ipc.removeEverything.mockRejectedValue({
    code: "JOURNAL_FAILED",
    message: "1 unanswered decisions are in the journal: nothing was deleted.",
  });
  await screen.findByTestId("connect-form");
  await user.click(screen.getByTestId("remove-everything"));
  await user.click(await screen.findByTestId("remove-confirm"));
  await waitFor(() =>
    expect(screen.getByTestId("leaving-error").textContent).toContain("nothing was deleted"),
  );
  expect(ipc.removeEverything).toHaveBeenCalledExactlyOnceWith("Close", null);
});
