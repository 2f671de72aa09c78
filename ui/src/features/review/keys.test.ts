import { describe, expect, test } from "vitest";
import { destination, gridCommand, type KeyPress } from "./keys";

function press(key: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  return { key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, repeat: false, ...modifiers };
}

test.each([
  ["a", "approve"],
  ["R", "reject"],
  ["x", "release"],
  ["h", "hand-over"],
  ["u", "undo"],
  [" ", "toggle"],
  ["Escape", "clear"],
  ["Enter", "detail"],
  ["/", "filter"],
  ["?", "shortcuts"],
])("%s means %s", (key, kind) => {
  expect(gridCommand(press(key))?.kind).toBe(kind);
});

test.each(["r", "x", "h", "u", "j"])("Ctrl+%s belongs to the browser", (key) => {
  expect(gridCommand(press(key, { ctrlKey: true }))).toBeNull();
});

test("Ctrl+A and Cmd+A select what is shown and never approve", () => {
  expect(gridCommand(press("a", { ctrlKey: true }))?.kind).toBe("select-shown");
  expect(gridCommand(press("a", { metaKey: true }))?.kind).toBe("select-shown");
  expect(gridCommand(press("a", { altKey: true }))).toBeNull();
});

test("a key that is held moves on but does not act again", () => {
  expect(gridCommand(press("ArrowDown", { repeat: true }))?.kind).toBe("move");
  expect(gridCommand(press("a", { repeat: true }))).toBeNull();
  expect(gridCommand(press(" ", { repeat: true }))).toBeNull();
});

test("names of the object's own are no keys", () => {
  expect(gridCommand(press("constructor"))).toBeNull();
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
    const command = gridCommand(press(key));
    if (command?.kind !== "move") throw new Error("no move");
    expect(destination(command, from, 100, 20)).toBe(to);
  });

  test("with Shift extends the range", () => {
    expect(gridCommand(press("ArrowDown", { shiftKey: true }))).toMatchObject({ extend: true });
  });
});
