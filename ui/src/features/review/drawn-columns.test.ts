import { expect, test } from "vitest";
import { EVERYTHING } from "../views/setup";
import { amountPx, drawnColumns } from "./drawn-columns";

const WIDEST_DIGIT_PX = 8.3;
const LONG = "-99,999,999,999,999.99";

function trackOfAmount(amounts: readonly string[], widthPx?: number): number {
  const layout = { ...EVERYTHING.columns, widths: widthPx === undefined ? {} : { amount: widthPx } };
  const { columns, template } = drawnColumns(layout, amountPx(amounts));
  const track = template.split(/\s+(?![^(]*\))/)[columns.findIndex(({ id }) => id === "amount") + 1];
  return Number.parseFloat(track ?? "");
}

test("usual amounts leave the column as it is", () => {
  expect(trackOfAmount(["1,234.56", "-12,345,678.90"])).toBe(trackOfAmount([]));
});

test("the column holds the longest amount, also where it was made narrower", () => {
  expect(trackOfAmount(["1.00", LONG])).toBeGreaterThan(16 * WIDEST_DIGIT_PX);
  expect(trackOfAmount([LONG], 40)).toBe(trackOfAmount([LONG]));
  expect(trackOfAmount([LONG], 400)).toBe(400);
});
