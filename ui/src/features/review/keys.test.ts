import { describe, expect, test } from "vitest";
import type { KeyPress } from "../actions/keymap";
import { destination, gridKey } from "./keys";

function press(key: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  return { key, code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...modifiers };
}

function idOf(pressed: KeyPress): string | null {
  const key = gridKey(pressed, {});
  return key?.kind === "action" ? key.id : (key?.kind ?? null);
}

test.each([
  ["a", "approve"],
  ["R", "reject"],
  ["e", "escalate"],
  ["x", "release"],
  ["h", "hand-over"],
  ["u", "undo"],
  [" ", "toggle"],
  ["Escape", "clear"],
  ["Enter", "detail"],
  ["/", "filter"],
  ["?", "shortcuts"],
])("%s means %s", (key, id) => {
  expect(idOf(press(key))).toBe(id);
});

test.each(["r", "x", "h", "u", "j"])("Ctrl+%s belongs to the browser", (key) => {
  expect(idOf(press(key, { ctrlKey: true }))).toBeNull();
});

test("Ctrl+A and Cmd+A select what is shown and never approve", () => {
  expect(idOf(press("a", { ctrlKey: true }))).toBe("select-shown");
  expect(idOf(press("a", { metaKey: true }))).toBe("select-shown");
  expect(idOf(press("a", { altKey: true }))).toBeNull();
  expect(idOf(press("A", { shiftKey: true }))).toBeNull();
});

test("names of the object's own are no keys", () => {
  expect(gridKey(press("constructor"), {})).toBeNull();
});

describe("a move", () => {
  test.each([
    ["ArrowDown", 5, 6],
    ["k", 5, 4],
    ["ArrowUp", 0, 0],
    ["PageDown", 5, 25],
    ["PageDown", 95, 99],
    ["PageUp", 5, 0],
    ["Home", 50, 0],
    ["End", 50, 99],
  ])("by %s from %i ends at %i", (key, from, to) => {
    const pressed = gridKey(press(key), {});
    if (pressed?.kind !== "move") throw new Error("no move");
    expect(destination(pressed.move, from, 100, 20)).toBe(to);
  });

  test("with Shift extends the range, by a letter as well", () => {
    expect(gridKey(press("ArrowDown", { shiftKey: true }), {})).toMatchObject({ extend: true });
    expect(gridKey(press("J", { shiftKey: true }), {})).toMatchObject({ kind: "move", extend: true });
    expect(gridKey(press("End", { shiftKey: true, ctrlKey: true }), {})).toMatchObject({ extend: true });
  });

  test("goes by the key that the reviewer chose", () => {
    expect(gridKey(press("n"), { "move-down": "N" })).toMatchObject({ kind: "move" });
    expect(gridKey(press("j"), { "move-down": "N" })).toBeNull();
    expect(gridKey(press("ArrowDown"), { "move-down": "N" })).toMatchObject({ kind: "move" });
  });
});
