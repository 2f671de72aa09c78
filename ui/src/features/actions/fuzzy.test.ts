import { expect, test } from "vitest";
import { fitness, fitting } from "./fuzzy";

test("a word beats its beginning, that beats a part, and that beats scattered letters", () => {
  const texts = ["Undo the last signature", "Sign out…", "Design", "Sort in grid now"];
  expect(fitting("sign", texts, (text) => text)).toEqual([
    "Sign out…",
    "Undo the last signature",
    "Design",
    "Sort in grid now",
  ]);
});

test("every word has to fit", () => {
  expect(fitness("export csv", "Export what is shown to CSV")).toBeGreaterThan(0);
  expect(fitness("export pdf", "Export what is shown to CSV")).toBe(0);
});

test("nothing typed fits everything, in its own order", () => {
  expect(fitting("  ", ["b", "a"], (text) => text)).toEqual(["b", "a"]);
});
