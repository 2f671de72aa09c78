import { expect, test } from "vitest";
import { undoWords, whyNotSign } from "./words";

test("what stands in the way of signing is said, the first thing first", () => {
  expect(whyNotSign(0, 0, 0)).toMatch(/Nothing is selected/);
  expect(whyNotSign(3, 1, 1)).toMatch(/hidden by the filter/);
  expect(whyNotSign(3, 0, 1)).toMatch(/group/);
  expect(whyNotSign(3, 0, 0)).toBeNull();
});

test("undoing is told in words", () => {
  expect(undoWords(5, 0)).toBe("5 withdrawn");
  expect(undoWords(3, 2)).toBe("3 withdrawn, 2 were already sent");
  expect(undoWords(0, 1)).toBe("None withdrawn: 1 was already sent");
});
