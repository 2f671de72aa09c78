import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Text } from "./Text";
import { visibleLines, visibleText } from "./visible-text";

test.each([
  ["Stone\u202Eoc.Com", "Stone<U+202E>oc.Com"],
  ["zero\u200Bwidth", "zero<U+200B>width"],
  ["two\nlines\tand a tab", "two<U+000A>lines<U+0009>and a tab"],
  ["\u2066isolated\u2069", "<U+2066>isolated<U+2069>"],
  ["soft\u00ADhyphen, \uFEFFmark", "soft<U+00AD>hyphen, <U+FEFF>mark"],
  ["tag \u{E0041}", "tag <U+E0041>"],
  ["half \uD800 pair", "half <U+D800> pair"],
  ["line\u2028separator", "line<U+2028>separator"],
  ["株式会社 Čačak שלום", "株式会社 Čačak שלום"],
])("spells out what cannot be seen in %j", (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test("a payload keeps its lines and nothing else that is hidden", () => {
  expect(visibleLines('{\n  "a": "\u202E"\r\n}')).toBe('{\n  "a": "<U+202E>"<U+000D>\n}');
});

test("markup from outside is text", () => {
  render(<Text text={"<img src=x onerror=alert(1)>\u202E"} />);
  const shown = screen.getByText("<img src=x onerror=alert(1)><U+202E>");
  expect(shown.title).toBe("<img src=x onerror=alert(1)><U+202E>");
  expect(shown.querySelector("img")).toBeNull();
});
