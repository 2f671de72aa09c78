import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Mark } from "../../generated/Mark";
import type { PreflightView } from "../../generated/PreflightView";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "../review/ReviewScreen";

const SIGNED: Mark = {
  kind: "SIGNED",
  label: "1 of 2 signed",
  explanation: "It takes effect with a second signature.",
};

function group(outcome: string, accepted: boolean, words: string, ids: string[]) {
  const label = `${ids.length} ${words}`;
  return { outcome, accepted, label, explanation: `What ${outcome} means.`, ids, totals: [] };
}

const VIEW: PreflightView = {
  policy_version: 3,
  as_of: "2026-10-05T08:00:00Z",
  stale: null,
  groups: [
    group("COMMITTED", true, "will commit", ["a"]),
    group("AWAITING_SECOND", true, "will wait for a second signature", ["b"]),
    group("OVER_LIMIT", false, "will be refused: over your limit", ["c"]),
  ],
  warnings: [],
  type_totals: [],
  effects: [],
  attestation: "I have examined these exceptions.",
  refused: 1,
};

async function openDialog(view: PreflightView | null) {
  const ipc = fakeIpc([
    deckRow("a"),
    deckRow("b", { marks: [SIGNED], state: { ...SIGNED, tone: "INFO" } }),
    deckRow("c"),
  ]);
  if (view === null) ipc.preflight.mockRejectedValue({ code: "NOT_CONNECTED", message: "Not yet." });
  else ipc.preflight.mockResolvedValue(view);
  const user = userEvent.setup();
  renderWith(ipc, <ReviewScreen session={SESSION} />);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  await user.keyboard("{Control>}a{/Control}a");
  await screen.findByTestId("sign-dialog");
  return { user, ipc };
}

test("each answer that is foreseen opens to its list, by the keyboard", async () => {
  const { user, ipc } = await openDialog(VIEW);
  const refused = await screen.findByTestId("preflight-OVER_LIMIT");
  expect(ipc.preflight).toHaveBeenCalledExactlyOnceWith(["a", "b", "c"], "APPROVE", []);
  expect(screen.queryByTestId("preflight-stale")).toBeNull();
  refused.focus();
  await user.keyboard("{Enter}");
  const list = screen.getByTestId("preflight-list");
  expect(refused.getAttribute("aria-expanded")).toBe("true");
  expect(list.textContent).toContain("What OVER_LIMIT means.");
  expect(within(list).getAllByRole("listitem")).toHaveLength(1);
  expect(list.textContent).toContain("Counterparty c");
  await user.keyboard("{Enter}");
  expect(screen.queryByTestId("preflight-list")).toBeNull();
  expect(ipc.sign).not.toHaveBeenCalled();
});

test("what is foreseen to be refused is said on the button and stands in nobody's way", async () => {
  const { user, ipc } = await openDialog(VIEW);
  const confirm = screen.getByTestId("sign-confirm");
  await waitFor(() => expect(confirm.textContent).toContain("Approve 3 · 1 will be refused"));
  expect(screen.getByTestId("attestation").textContent).toContain("I have examined these exceptions.");
  expect(screen.getByTestId("attestation").textContent).toContain("Policy 3");
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
});

test("what may be out of date says so, and nothing foreseen is no obstacle", async () => {
  await openDialog({ ...VIEW, stale: "Offline: as last heard of" });
  expect((await screen.findByTestId("preflight-stale")).textContent).toContain("Offline: as last heard of");
});

test("where nothing can be foreseen, that is said quietly", async () => {
  const { user, ipc } = await openDialog(null);
  await waitFor(() => expect(screen.getByTestId("preflight").textContent).toContain("Not yet."));
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
});

test("a mark is in the row, with what it means", async () => {
  await openDialog(VIEW);
  const cell = within(screen.getByTestId("row-b")).getByText("1 of 2 signed");
  // A title is made when somebody points at its cell.
  fireEvent.pointerOver(cell);
  expect(cell.title).toContain("second signature");
});
