import { describe, expect, test } from "vitest";
import {
  add,
  clear,
  countHidden,
  extendTo,
  followCursor,
  moveTo,
  NOTHING_SELECTED,
  retain,
  type Selection,
  selectShown,
  toggle,
} from "./selection";

const SHOWN = ["a", "b", "c", "d", "e", "f"];
const ids = (selection: Selection) => [...selection.selected].sort().join("");

describe("a range", () => {
  test("runs from the anchor to the cursor, downwards and upwards", () => {
    const start = moveTo(NOTHING_SELECTED, "c");
    expect(ids(extendTo(start, SHOWN, "e"))).toBe("cde");
    expect(ids(extendTo(start, SHOWN, "a"))).toBe("abc");
  });

  test("that shrinks gives back what it took and nothing else", () => {
    const other = toggle(NOTHING_SELECTED, "e");
    const wide = extendTo(moveTo(other, "a"), SHOWN, "f");
    expect(ids(wide)).toBe("abcdef");
    expect(ids(extendTo(wide, SHOWN, "b"))).toBe("abe");
  });

  test("follows the order on screen, not the order of arrival", () => {
    const start = moveTo(NOTHING_SELECTED, "f");
    expect(ids(extendTo(start, ["f", "a", "c", "b"], "c"))).toBe("acf");
  });

  test("whose anchor the filter hid begins anew", () => {
    const start = moveTo(NOTHING_SELECTED, "a");
    expect(ids(extendTo(start, ["c", "d"], "d"))).toBe("d");
  });
});

test("toggling twice changes nothing, and moving selects nothing", () => {
  expect(ids(toggle(toggle(NOTHING_SELECTED, "a"), "a"))).toBe("");
  expect(ids(moveTo(toggle(NOTHING_SELECTED, "a"), "b"))).toBe("a");
});

test("selecting what is shown takes only what is shown", () => {
  const hidden = toggle(NOTHING_SELECTED, "z");
  expect(ids(selectShown(hidden, ["a", "b"]))).toBe("ab");
});

test("a refresh drops what left the deck and keeps the rest", () => {
  const both = add(NOTHING_SELECTED, ["a", "b", "c"]);
  expect(ids(retain(both, new Set(["b", "c", "d"])))).toBe("bc");
  expect(retain(both, new Set(SHOWN))).toBe(both);
});

test("what the filter hides is counted, and can be dropped", () => {
  const both = add(NOTHING_SELECTED, ["a", "b", "c"]);
  const shown = new Set(["b"]);
  expect(countHidden(both, shown)).toBe(2);
  expect(ids(retain(both, shown))).toBe("b");
});

test("clearing leaves the cursor where it is", () => {
  const cleared = clear(toggle(NOTHING_SELECTED, "d"));
  expect(ids(cleared)).toBe("");
  expect(cleared.cursor).toBe("d");
});

describe("the cursor after a refresh", () => {
  test.each([
    ["stays on its row", "c", ["c", "d"], "c"],
    ["takes the place of a row that left", "c", ["a", "b", "d", "e"], "d"],
    ["takes the last row when there is none below", "f", ["a", "b"], "b"],
    ["starts at the first row", null, SHOWN, "a"],
    ["is nowhere in an empty deck", "c", [], null],
  ])("%s", (_case, cursor, after, expected) => {
    expect(followCursor({ ...NOTHING_SELECTED, cursor }, SHOWN, after).cursor).toBe(expected);
  });
});
