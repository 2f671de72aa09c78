import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CloseView } from "../../generated/CloseView";
import { fakeIpc, renderWith } from "../../test-deck";
import { CloseScreen } from "./CloseScreen";
import { useCloseOrder } from "./close-lines";
import { burnDown } from "./drawings";

const VIEW: CloseView = {
  as_of: "2026-10-05T10:30:00Z",
  stale: null,
  period: { name: "2026-10", state: "closing", closes_at: "2026-10-07T16:00:00Z" },
  left: 42,
  signed_today: 40,
  mine_today: 10,
  lines: [
    { entity: "de-01", tier: "standard", left: 2, held: 1, signed_today: 30, mine_today: 4 },
    { entity: "fr-02\u202E", tier: "priority", left: 40, held: 0, signed_today: 10, mine_today: 6 },
  ],
  burn_down: [
    { at: "2026-10-05T09:00:00Z", left: 60, arrived: 2, decided: 8 },
    { at: "2026-10-05T10:00:00Z", left: 50, arrived: 0, decided: 10 },
  ],
  projection: {
    per_hour: "9.0",
    done_at: "2026-10-05T15:10:00Z",
    in_time: true,
    words: "At 9.0 an hour everything is decided two days before the deadline.",
  },
  capture: [],
};

// jsdom has no canvas: the numbers are shown in the pictures' place, and what would be drawn is looked at as data.
Object.defineProperty(HTMLCanvasElement.prototype, "getContext", { value: () => null });

beforeEach(() => {
  useCloseOrder.setState({ column: "left", descending: true, filter: "" });
});

afterEach(() => vi.useRealTimers());

function open(view: CloseView = VIEW) {
  const ipc = fakeIpc([]);
  ipc.closeOverview.mockResolvedValue(view);
  renderWith(ipc, <CloseScreen />);
  return ipc;
}

test("what is left, my share and the projection are read at a glance", async () => {
  open();
  expect((await screen.findByTestId("close-left")).textContent).toBe("42");
  expect(screen.getByTestId("close-mine").textContent).toBe("10 25 %");
  expect(screen.getByTestId("projection").textContent).toBe(VIEW.projection?.words);
  const rows = within(screen.getByRole("table", { name: "What is left" })).getAllByRole("rowheader");
  // What is left most comes first, and nothing in a name is hidden.
  expect(rows.map((row) => row.textContent)).toEqual(["fr-02<U+202E>", "de-01"]);
});

test("the numbers of a chart are there, also where nothing can be drawn", async () => {
  open();
  const chart = await screen.findByTestId("by-the-hour");
  const table = within(chart).getByRole("table");
  expect(
    within(table)
      .getAllByRole("cell")
      .map((cell) => cell.textContent),
  ).toEqual(["8", "2", "10", "0"]);
});

test("the picture runs from the first hour to nothing left", () => {
  const theme = { faint: "", line: "", accent: "", second: "", warn: "", font: "" };
  const [x, left, ahead] = burnDown(VIEW)(theme).data;
  const at = (instant: string) => Date.parse(instant) / 1000;
  expect(x).toEqual([
    at("2026-10-05T09:00:00Z"),
    at("2026-10-05T10:00:00Z"),
    at("2026-10-05T10:30:00Z"),
    at("2026-10-05T15:10:00Z"),
  ]);
  expect(left).toEqual([60, 50, 42, null]);
  expect(ahead).toEqual([null, null, 42, 0]);
});

test("while it is shown it is read anew every minute", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const ipc = open();
  await screen.findByTestId("close-left");
  ipc.closeOverview.mockClear();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ipc.closeOverview).toHaveBeenCalledOnce();
});

test("what was read before stays when it cannot be read anew", async () => {
  const ipc = open();
  await screen.findByTestId("close-left");
  ipc.closeOverview.mockRejectedValue({ code: "UNREACHABLE", message: "The database does not answer." });
  await userEvent.setup().click(screen.getByTestId("refresh-close"));
  await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("does not answer"));
  expect(screen.getByTestId("close-left").textContent).toBe("42");
});

test("with nothing left it says so", async () => {
  open({ ...VIEW, left: 0, lines: [], burn_down: [], projection: null, period: null, signed_today: 0 });
  expect((await screen.findByTestId("close")).textContent).toContain("Nothing is left");
  expect(screen.getByTestId("close-mine").textContent).toBe("10");
});

test("what cannot be foreseen yet is no warning", async () => {
  const projection = {
    per_hour: "0.0",
    done_at: null,
    in_time: false,
    words: "Nobody signed in the last hour.",
  };
  open({ ...VIEW, burn_down: VIEW.burn_down.slice(0, 1), projection });
  const early = await screen.findByTestId("projection");
  expect([early.textContent, early.dataset.late]).toEqual([projection.words, undefined]);
  cleanup();
  open({ ...VIEW, projection });
  expect((await screen.findByTestId("projection")).dataset.late).toBe("true");
});

test("days on which receipts were read badly are told in words and numbers", async () => {
  const day = (name: string, drifting: number, share: string, alert: boolean) => ({
    ...{ day: name, receipts: 40, drifting, share, alert },
  });
  open({ ...VIEW, capture: [day("2026-10-05", 5, "12.5", true), day("2026-10-04", 4, "10.0", false)] });
  expect((await screen.findByTestId("capture-alert")).textContent).toContain(
    "12.5 % of 2026-10-05 drift (5 of 40)",
  );
  const rows = within(within(screen.getByTestId("capture")).getByRole("table")).getAllByRole("row");
  expect(rows.map((row) => row.textContent)).toEqual([
    "DayReceiptsDriftingShare",
    "2026-10-0540512.5 % over",
    "2026-10-0440410.0 %",
  ]);
});

test("without a day over policy there is no alert", async () => {
  open();
  await screen.findByTestId("close-left");
  expect(screen.queryByTestId("capture-alert")).toBeNull();
});
