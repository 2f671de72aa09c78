import { expect, test } from "vitest";
import { ACTION_IDS, ACTIONS, type Action } from "./actions";
import {
  actionAt,
  conflicts,
  type KeyPress,
  keyOf,
  keysOf,
  keyText,
  printsCharacter,
  writtenKey,
} from "./keymap";

function press(key: string, part: Partial<KeyPress> = {}): KeyPress {
  return { key, code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...part };
}

test("no two shipped actions have the same key", () => {
  expect(conflicts({})).toEqual([]);
});

test("every shipped key is written as a press of it reads", () => {
  for (const id of ACTION_IDS) {
    for (const key of keysOf(id, {})) {
      const parts = key.endsWith("++") ? [...key.slice(0, -2).split("+"), "+"] : key.split("+");
      const name = parts.at(-1) ?? "";
      const read = keyText(
        press(name === "Space" ? " " : name, {
          ctrlKey: parts.includes("Ctrl"),
          altKey: parts.includes("Alt"),
          shiftKey: parts.includes("Shift"),
        }),
      );
      expect(read, id).toBe(key);
    }
  }
});

test.each([
  ["a letter in any case", press("a"), "A"],
  ["a letter with Shift", press("A", { shiftKey: true }), "Shift+A"],
  ["a sign, whatever Shift does on this keyboard", press("?", { shiftKey: true }), "?"],
  ["the Command key as Ctrl", press("k", { metaKey: true }), "Ctrl+K"],
  ["Ctrl and plus", press("+", { ctrlKey: true, shiftKey: true }), "Ctrl++"],
  ["a Cyrillic letter by its place", press("ф", { code: "KeyA" }), "A"],
  ["what Alt makes of a letter on a Mac by its place", press("®", { code: "KeyR", altKey: true }), "Alt+R"],
  ["what Alt makes of a digit on a Mac by its place", press("¡", { code: "Digit1", altKey: true }), "Alt+1"],
  ["the space bar", press(" "), "Space"],
])("reads %s", (_what, pressed, text) => {
  expect(keyText(pressed)).toBe(text);
});

test.each(["Shift", "Control", "Dead", "Process"])("%s alone is no key", (key) => {
  expect(keyText(press(key))).toBeNull();
});

test("what prints a character acts in the grid alone", () => {
  expect(actionAt("A", "grid", {})).toBe("approve");
  expect(actionAt("A", null, {})).toBeNull();
  expect(actionAt("?", "grid", {})).toBe("shortcuts");
  expect(actionAt("?", null, {})).toBeNull();
  expect(actionAt("F1", null, {})).toBe("shortcuts");
  expect(actionAt("Ctrl+K", null, {})).toBe("palette");
  // An action of everywhere that was given a letter does not take it from a text field.
  expect(actionAt("Z", null, { palette: "Z" })).toBeNull();
  expect(actionAt("Z", "grid", { palette: "Z" })).toBe("palette");
  expect(["Space", "Shift+A", "/", "7"].every(printsCharacter)).toBe(true);
  expect(["Ctrl+A", "Alt+1", "F1", "Enter"].some(printsCharacter)).toBe(false);
});

test("the grid's actions have no key elsewhere, and a dialog's have none at all", () => {
  expect(actionAt("Ctrl+A", null, {})).toBeNull();
  expect(actionAt("Ctrl+Enter", "grid", {})).toBeNull();
});

test("a reviewer's key takes the place of the shipped one, and an empty one takes it away", () => {
  expect(keyOf("approve", { approve: "P" })).toBe("P");
  expect(actionAt("A", "grid", { approve: "P" })).toBeNull();
  expect(actionAt("P", "grid", { approve: "P" })).toBe("approve");
  expect(keysOf("approve", { approve: "" })).toEqual([]);
  expect(keysOf("move-down", { "move-down": "" })).toEqual(["ArrowDown"]);
});

test("fixed keys stay, whatever a keymap says", () => {
  const fixed = ACTION_IDS.filter((id) => (ACTIONS[id] as Action).fixed);
  expect(fixed).toContain("clear");
  for (const id of fixed) expect(keyOf(id, { [id]: "Q" })).toBe(ACTIONS[id].key);
});

test("a key that two actions have is a conflict, also one that an action always has", () => {
  expect(conflicts({ approve: "R" })).toEqual([{ key: "R", actions: ["approve", "reject"] }]);
  expect(conflicts({ approve: "ArrowDown" })).toEqual([
    { key: "ArrowDown", actions: ["move-down", "approve"] },
  ]);
  expect(conflicts({ approve: "R", reject: "A" })).toEqual([]);
  expect(conflicts({ "an action of a later release": "A" })).toEqual([]);
});

test("keys are written as they are on a keyboard", () => {
  expect(writtenKey("Ctrl+Enter")).toBe("Ctrl ⏎");
  expect(writtenKey("Ctrl++")).toBe("Ctrl +");
  expect(writtenKey("+")).toBe("+");
  expect(writtenKey("ArrowDown")).toBe("↓");
});
