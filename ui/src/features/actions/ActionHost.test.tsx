import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../App";
import { SHIPPED, usePreferences } from "../../components/preferences-store";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { useReview } from "../review/review-store";
import { useFrame } from "../shell/frame-store";
import { ACTION_IDS, ACTIONS } from "./actions";

beforeEach(() => {
  usePreferences.setState({ preferences: SHIPPED });
  useFrame.setState({ screen: "review", worksOffline: false, drain: null, shortcutsShown: false });
});

async function openWindow() {
  const ipc = fakeIpc([deckRow("a"), deckRow("b")]);
  ipc.session.mockResolvedValue({ ...SESSION, deck_count: 2 });
  const user = userEvent.setup();
  renderWith(ipc, <App />);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  return { ipc, user };
}

test("the palette has every action with its key, and takes the one that is typed", async () => {
  const { user } = await openWindow();
  await user.keyboard(" {Control>}k{/Control}");
  const palette = await screen.findByTestId("palette");
  const missing = ACTION_IDS.filter(
    (id) =>
      ACTIONS[id].context !== "dialog" &&
      !["palette", "view-8", "view-9"].includes(id) &&
      palette.querySelector(`[data-testid="palette-${id}"]`) === null,
  );
  expect(missing).toEqual([]);
  expect(screen.getByTestId("palette-reject").textContent).toContain("R");
  expect(screen.getByTestId("palette-view-2").textContent).toContain("Open view: Zero variance");
  await user.keyboard("reject{Enter}");
  expect((await screen.findByTestId("sign-dialog")).textContent).toContain("Reject");
  expect(screen.queryByTestId("palette")).toBeNull();
});

test("what cannot be done says why and is not done", async () => {
  const { user } = await openWindow();
  await user.keyboard("{Control>}k{/Control}");
  const entry = await screen.findByTestId("palette-approve");
  expect(entry.textContent).toContain("Nothing is selected.");
  await user.click(entry);
  expect(screen.queryByTestId("sign-dialog")).toBeNull();
  expect(screen.getByTestId("palette")).toBeTruthy();
});

test("keys of everywhere work on every screen, and not while a dialog is open", async () => {
  const { user } = await openWindow();
  await user.keyboard("{Alt>}s{/Alt}");
  expect(useFrame.getState().screen).toBe("sync");
  await user.keyboard("{Alt>}r{/Alt}");
  expect(useFrame.getState().screen).toBe("review");
  await user.keyboard("{Control>}k{/Control}");
  await screen.findByTestId("palette");
  await user.keyboard("{Alt>}s{/Alt}");
  expect(useFrame.getState().screen).toBe("review");
});

test("leases, the outbox and the latest receipt are a key or a word away, and what cannot be done says why", async () => {
  const { user, ipc } = await openWindow();
  ipc.settings.mockRejectedValue({ code: "JOURNAL_FAILED", message: "The journal cannot be read." });
  await user.keyboard("{Alt>}o{/Alt}");
  await screen.findByTestId("take-offline");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("take-offline")).toBeNull());
  await user.keyboard("{Alt>}u{/Alt}");
  await screen.findByTestId("return-dialog");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("return-dialog")).toBeNull());
  await user.keyboard("{Alt>}e{/Alt}");
  await waitFor(() => expect(ipc.extendLeases).toHaveBeenCalledWith(900_000));
  await user.keyboard("{Alt>}n{/Alt}");
  expect(ipc.retryNow).not.toHaveBeenCalled();
  await screen.findByText("Nothing is unsent.", { selector: "span" });
  await user.keyboard("{Alt>}l{/Alt}");
  await waitFor(() => expect(ipc.batches).toHaveBeenCalled());
  await user.keyboard("{Alt>}w{/Alt}");
  expect(useFrame.getState().screen).toBe("sync");
  expect(screen.getByTestId("tab-attention").getAttribute("aria-selected")).toBe("true");
  await user.keyboard("{Control>}k{/Control}finish and close{Enter}");
  await waitFor(() => expect(ipc.drain).toHaveBeenCalledOnce());
});

test("zoom works in dialogs as well, within its bounds", async () => {
  const { user } = await openWindow();
  const zoom = () => usePreferences.getState().preferences.zoom_percent;
  await user.keyboard("{Control>}k{/Control}");
  await screen.findByTestId("palette");
  await user.keyboard("{Control>}+={/Control}");
  expect(zoom()).toBe(120);
  await user.keyboard("{Control>}0{/Control}");
  expect(zoom()).toBe(100);
  await user.keyboard(`{Control>}${"-".repeat(20)}{/Control}`);
  expect(zoom()).toBe(50);
});

test("while text is composed no key acts", async () => {
  await openWindow();
  const row = screen.getByTestId("row-a");
  fireEvent.keyDown(row, { key: " ", isComposing: true });
  fireEvent.keyDown(row, { key: "Process", keyCode: 229 });
  fireEvent.keyDown(row, { key: "s", code: "KeyS", altKey: true, isComposing: true });
  expect(useReview.getState().selection.selected.size).toBe(0);
  expect(useFrame.getState().screen).toBe("review");
  fireEvent.keyDown(row, { key: " " });
  expect(useReview.getState().selection.selected.size).toBe(1);
});

test("a remapped key acts, and the overlay shows it in place of the shipped one", async () => {
  usePreferences.setState({ preferences: { ...SHIPPED, keymap: { reject: "Q" } } });
  const { user } = await openWindow();
  await user.keyboard(" r");
  expect(screen.queryByTestId("sign-dialog")).toBeNull();
  await user.keyboard("q");
  await screen.findByTestId("sign-dialog");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("sign-dialog")).toBeNull());
  screen.getByTestId("row-a").focus();
  await user.keyboard("?");
  const keys = await screen.findByTestId("shortcuts");
  const reject = [...keys.querySelectorAll("dl > div")].find((line) =>
    line.textContent?.startsWith("Reject"),
  );
  expect(reject?.textContent).toBe("Reject the selectionQ");
});

test("E hands over, and says that it escalates", async () => {
  const { user, ipc } = await openWindow();
  await user.keyboard(" e");
  const dialog = await screen.findByTestId("hand-over-dialog");
  expect(dialog.textContent).toContain("Escalate to…");
  await user.keyboard("senior-1{Enter}");
  await waitFor(() => expect(ipc.handOver).toHaveBeenCalledWith(["a"], "senior-1"));
});
