import { expect, test } from "vitest";
import { shortened } from "./shortened";

test("a sentence stays one, whatever the name, and no character is cut in two", () => {
  expect(shortened("ACME")).toBe("ACME");
  expect(shortened("A".repeat(10_000))).toBe(`${"A".repeat(79)}…`);
  expect(shortened("👩".repeat(100), 3)).toBe("👩👩…");
  expect(shortened("👩👩👩", 3)).toBe("👩👩👩");
});
