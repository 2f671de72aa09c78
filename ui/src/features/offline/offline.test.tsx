import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../App";
import type { SessionView } from "../../generated/SessionView";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { useReview } from "../review/review-store";
import { useFrame } from "../shell/frame-store";
import { takeOffline, useOffline } from "./offline-store";
import { spansAt } from "./spans";
import { unfinished } from "./unfinished";

const HOUR_MS = 3_600_000;
const LEASED = { ...SESSION, deck_count: 3, lease_ends_in_ms: 900_000 };

beforeEach(() => {
  useFrame.setState({ screen: "review", worksOffline: false, drain: null });
  useOffline.setState({ dialog: null });
});

function open(session: SessionView) {
  const ipc = fakeIpc([
    deckRow("a", { partition: "p1" }),
    deckRow("b", { partition: "p1" }),
    deckRow("c", { partition: "p2" }),
  ]);
  ipc.session.mockResolvedValue(session);
  renderWith(ipc, <App />);
  return { ipc, user: userEvent.setup() };
}

test("what policy does not allow is offered with the reason, and cannot be chosen", () => {
  const spans = spansAt(new Date(2026, 9, 5, 14, 0), 2 * HOUR_MS);
  expect(spans.map(({ id, excluded }) => [id, excluded])).toEqual([
    ["1h", null],
    ["4h", "policy allows 2 h at most"],
    ["day", "policy allows 2 h at most"],
    ["longest", null],
  ]);
  expect(spans.find(({ id }) => id === "day")?.ms).toBe(9 * HOUR_MS + 59 * 60_000);
  expect(spansAt(new Date(), null).every(({ excluded }) => excluded !== null)).toBe(true);
});

test("what shares a partition with the selection stays", () => {
  const rows = [
    deckRow("a", { partition: "p1" }),
    deckRow("b", { partition: "p1" }),
    deckRow("c", { partition: "p2" }),
  ];
  expect(unfinished(rows, new Set(["a"]))).toEqual({ ids: ["c"], kept: 1 });
  expect(unfinished(rows, new Set())).toEqual({ ids: ["a", "b", "c"], kept: 0 });
});

test("from the pill work is taken offline by keyboard, and it says until when and what was lost", async () => {
  const { ipc, user } = open(LEASED);
  ipc.extendLeases.mockResolvedValue({
    partitions: 2,
    lost: 1,
    until: "2026-10-05T18:00:00Z",
    message: "2 leases stand until 18:00, as long as policy allows.",
  });
  (await screen.findByTestId("lease-pill")).focus();
  await user.keyboard("{Enter}");
  await user.click(await screen.findByTestId("menu-take-offline"));
  await screen.findByTestId("take-offline");
  await user.click(screen.getByTestId("extend"));
  const taken = await screen.findByTestId("offline-taken");
  expect(ipc.extendLeases).toHaveBeenCalledExactlyOnceWith(HOUR_MS);
  expect(taken.textContent).toContain("2 leases stand until 18:00");
  expect(taken.textContent).toContain("1 lease was somebody else’s");
});

test("a refusal is told in the dialog, which stays", async () => {
  const { ipc, user } = open({ ...LEASED, link: { ...SESSION.link, online: false } });
  ipc.extendLeases.mockRejectedValue({ code: "OFFLINE", message: "The database does not answer." });
  await screen.findByTestId("lease-pill");
  takeOffline();
  await user.click(await screen.findByTestId("extend"));
  await waitFor(() => expect(screen.getByTestId("take-offline").textContent).toContain("does not answer"));
});

test("while work is offline the pill says until when", async () => {
  const until = new Date(Date.now() + HOUR_MS);
  open({ ...LEASED, offline_until: until.toISOString() });
  const two = (part: number) => String(part).padStart(2, "0");
  const pill = await screen.findByTestId("lease-pill");
  expect(pill.textContent).toContain(`${two(until.getHours())}:${two(until.getMinutes())}`);
  expect(pill.textContent).toContain("Offline work until");
});

test("everything that is not selected is given back with its number", async () => {
  const { ipc, user } = open(LEASED);
  await screen.findByTestId("row-a");
  useReview.getState().select((now) => ({ ...now, selected: new Set(["a"]) }));
  useOffline.getState().open("return");
  expect((await screen.findByTestId("option-rest")).textContent).toContain("1 go, 2 stay");
  await user.click(screen.getByTestId("return-confirm"));
  expect(ipc.release).toHaveBeenCalledExactlyOnceWith(["c"]);
  await waitFor(() => expect(screen.queryByTestId("return-dialog")).toBeNull());
});

test("before leases lapse a quiet warning extends them by their usual length", async () => {
  const { ipc, user } = open({ ...LEASED, lease_warning_in_ms: 90_000 });
  ipc.settings.mockResolvedValue({
    file: "",
    changes: [],
    rows: [
      {
        name: "lease_timeout_ms",
        label: "",
        explanation: "",
        unit: "ms",
        value: 600_000,
        default: 900_000,
        least: 1,
        most: 2,
        source: "FILE",
        origin: null,
        fixed: null,
        next_start: null,
      },
    ],
  });
  expect((await screen.findByTestId("lease-warning")).textContent).toMatch(/lapses in 1:[23]\d/);
  await user.click(screen.getByTestId("lease-extend"));
  await waitFor(() => expect(ipc.extendLeases).toHaveBeenCalledExactlyOnceWith(600_000));
});
