import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { usePreferences } from "../../components/preferences-store";
import { Toasts } from "../../components/Toasts";
import { uiState } from "../../components/ui-state";
import type { PreflightView } from "../../generated/PreflightView";
import { deckRow, fakeIpc, PREFERENCES, renderWith, SESSION } from "../../test-deck";
import { ReviewScreen } from "../review/ReviewScreen";

const ROWS = ["a", "b", "c"].map((id) => deckRow(id));

function foreseen(ids: readonly string[], part: Partial<PreflightView> = {}): PreflightView {
  const group = (outcome: string, accepted: boolean, members: string[]) =>
    members.length === 0
      ? []
      : [
          {
            outcome,
            accepted,
            label: `${members.length} ${outcome}`,
            explanation: "",
            ids: members,
            totals: [],
          },
        ];
  const refused = ids.filter((id) => id === "c");
  return {
    policy_version: 3,
    as_of: "2026-10-05T08:00:00Z",
    stale: null,
    groups: [
      ...group(
        "COMMITTED",
        true,
        ids.filter((id) => id !== "c"),
      ),
      ...group("OVER_LIMIT", false, refused),
    ],
    refused: refused.length,
    warnings: [],
    type_totals: [],
    effects: [],
    attestation: "I have examined these exceptions.",
    ...part,
  };
}

async function openAll(part: Partial<PreflightView> = {}, key = "a") {
  usePreferences.setState({ preferences: { ...PREFERENCES, numbers: "COMMA_POINT" } });
  const ipc = fakeIpc(ROWS);
  ipc.preflight.mockImplementation(async (ids) => foreseen(ids, part));
  const user = userEvent.setup();
  renderWith(
    ipc,
    <>
      <ReviewScreen session={SESSION} />
      <Toasts />
    </>,
  );
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("row-a")));
  await user.keyboard(`{Control>}a{/Control}${key}`);
  await screen.findByTestId("sign-dialog");
  await screen.findByTestId("preflight-COMMITTED");
  return { user, ipc };
}

test("one key leaves out what will be refused: the rest is signed, and it stays selected", async () => {
  const { user, ipc } = await openAll();
  expect(screen.getByTestId("leave-out").textContent).toContain("Leave out 1 that will be refused");
  await user.keyboard("{Alt>}l{/Alt}");
  await waitFor(() => expect(screen.getByTestId("left-out").textContent).toContain("1 exception left out"));
  await waitFor(() => expect(screen.getByTestId("sign-confirm").textContent).toContain("Approve 2"));
  expect(ipc.preflight).toHaveBeenLastCalledWith(["a", "b"], "APPROVE", []);
  ipc.deck.mockResolvedValue({ version: 2, rows: ROWS.slice(2) });
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
  expect(ipc.sign.mock.calls[0]?.[0]).toMatchObject({ ids: ["a", "b"], hash_total: "hash of a b" });
  await waitFor(() =>
    expect(screen.getAllByRole("row", { selected: true }).map((row) => row.dataset.id)).toEqual(["c"]),
  );
});

test("what was left out can be put back", async () => {
  const { user } = await openAll();
  await user.click(screen.getByTestId("leave-out"));
  await user.click(await screen.findByTestId("put-back"));
  await waitFor(() =>
    expect(screen.getByTestId("sign-confirm").textContent).toContain("Approve 3 · 1 will be refused"),
  );
});

test("a control total is typed as the reader writes it, signed as a plain decimal, and a wrong one is told at its field", async () => {
  const { user, ipc } = await openAll({ type_totals: ["USD"] });
  const field = screen.getByTestId<HTMLInputElement>("typed-total-USD");
  expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(true);
  await user.type(field, "1,50");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(true);
  await user.clear(field);
  await user.type(field, "(1,234,567.50)");
  expect(field.getAttribute("aria-invalid")).toBe("false");
  ipc.sign.mockRejectedValueOnce({ code: "TOTAL_MISMATCH", message: "The net of USD is not that." });
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(screen.getByTestId("typed-problem").textContent).toContain("The net of USD"));
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByTestId("sign-error").textContent).toBe("");
  await waitFor(() => expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(false));
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(screen.queryByTestId("sign-dialog")).toBeNull());
  expect(ipc.sign.mock.calls.at(-1)?.[0].typed_totals).toEqual([{ currency: "USD", net: "-1234567.50" }]);
});

test("under another policy the pre-flight is read again, and what is attested then is what is shown", async () => {
  const { user, ipc } = await openAll();
  ipc.sign.mockRejectedValueOnce({ code: "POLICY_CHANGED", message: "Policy 4 is in force." });
  ipc.preflight.mockImplementation(async (ids) =>
    foreseen(ids, { policy_version: 4, attestation: "The new words." }),
  );
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(screen.getByTestId("sign-error").textContent).toContain("read again"));
  await waitFor(() => expect(screen.getByTestId("attestation").textContent).toContain("The new words."));
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledTimes(2));
  expect(ipc.sign.mock.calls.map(([request]) => request.policy_version)).toEqual([3, 4]);
});

test("warnings are shown and hinder nothing", async () => {
  const message = "Nothing of the batch was opened.";
  const { user, ipc } = await openAll({ warnings: [{ kind: "NOTHING_OPENED", message }] });
  expect(screen.getByTestId("sign-warnings").textContent).toContain(message);
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
});

test("a half-written comment comes back for the same decision until it is signed or cleared", async () => {
  const { user } = await openAll();
  await user.keyboard("half a thought");
  expect(uiState.read("sign-draft", (value) => value)).toEqual({
    decision: "APPROVE",
    reason: null,
    comment: "half a thought",
  });
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("sign-dialog")).toBeNull());
  await user.keyboard("a");
  await screen.findByTestId("draft-restored");
  expect(screen.getByTestId<HTMLTextAreaElement>("sign-comment").value).toBe("half a thought");
  await user.click(screen.getByTestId("draft-clear"));
  expect(screen.getByTestId<HTMLTextAreaElement>("sign-comment").value).toBe("");
  expect(uiState.read("sign-draft", (value) => value)).toBeNull();
});

test("what was signed is in the batch and in no draft any more", async () => {
  const { user, ipc } = await openAll();
  await user.keyboard("done{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
  await waitFor(() => expect(uiState.read("sign-draft", (value) => value)).toBeNull());
});

test("Ctrl+Enter confirms from every field, the closed list of reasons among them", async () => {
  const { user, ipc } = await openAll({}, "r");
  await user.click(screen.getByTestId("sign-reason"));
  await user.click(await screen.findByTestId("sign-reason-WRONG_AMOUNT"));
  screen.getByTestId("sign-reason").focus();
  await user.keyboard("{Control>}{Enter}{/Control}");
  await waitFor(() => expect(ipc.sign).toHaveBeenCalledOnce());
  expect(ipc.sign.mock.calls[0]?.[0]).toMatchObject({ decision: "REJECT", reason: "WRONG_AMOUNT" });
});

test("a group that leaving out would split is left out whole, or nothing is signed", async () => {
  const ipcOf = async () => {
    const opened = await openAll();
    const whole = opened.ipc.totals.getMockImplementation();
    opened.ipc.totals.mockImplementation(async (ids) => {
      const totals = await whole?.(ids);
      if (totals === undefined) throw new Error("no totals");
      return { ...totals, split_groups: ids.includes("b") && !ids.includes("c") ? ["b"] : [] };
    });
    return opened;
  };
  const { user, ipc } = await ipcOf();
  await user.click(screen.getByTestId("leave-out"));
  await waitFor(() =>
    expect(screen.getByTestId("leave-out").textContent).toContain(
      "Leave out the 1 others of their groups too",
    ),
  );
  expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(true);
  await user.click(screen.getByTestId("leave-out"));
  await waitFor(() => expect(screen.getByTestId("sign-confirm").hasAttribute("disabled")).toBe(false));
  await user.click(screen.getByTestId("sign-confirm"));
  await waitFor(() => expect(ipc.sign.mock.calls[0]?.[0].ids).toEqual(["a"]));
});
