import { expect, test } from "vitest";
import { decode, toCommandError } from "./ipc";

test("a view may arrive as bytes or as an object", () => {
  const view = { version: 3, rows: ["株式会社"] };
  const bytes = new TextEncoder().encode(JSON.stringify(view));
  expect(decode(bytes)).toEqual(view);
  expect(decode(bytes.buffer as ArrayBuffer)).toEqual(view);
  expect(decode(view)).toBe(view);
});

test("whatever is thrown becomes words", () => {
  expect(toCommandError({ code: "JOURNAL_FULL", message: "The disk is full." })).toEqual({
    code: "JOURNAL_FULL",
    message: "The disk is full.",
  });
  expect(toCommandError("gone").message).toContain("gone");
  expect(toCommandError(new Error("broken")).code).toBe("UNEXPECTED");
});
