import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { appearanceOf, followAppearance, ROW_HEIGHT_PX } from "./appearance";
import { SHIPPED, usePreferences } from "./preferences-store";

const CSS = readFileSync("src/components/theme.css", "utf8");

beforeEach(() => usePreferences.setState({ preferences: SHIPPED }));
afterEach(() => vi.unstubAllGlobals());

describe("preferences on the root element", () => {
  test("the system’s wish for contrast and stillness is heard, and a choice of one’s own comes first", () => {
    const wishes = (query: string) => /more|reduce/.test(query);
    expect(appearanceOf(SHIPPED, wishes)).toMatchObject({ theme: "HIGH_CONTRAST", motion: "REDUCED" });
    expect(appearanceOf({ ...SHIPPED, theme: "DARK", motion: "FULL" }, wishes)).toMatchObject({
      theme: "DARK",
      motion: "FULL",
    });
    expect(appearanceOf(SHIPPED, () => false)).toMatchObject({ theme: "SYSTEM", motion: "FULL" });
  });

  test("a change is seen at once, and none after it stopped", () => {
    vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
    const root = document.createElement("div");
    const stop = followAppearance(root);
    expect(root.dataset.theme).toBe("SYSTEM");
    usePreferences.setState({ preferences: { ...SHIPPED, theme: "LIGHT", density: "COMPACT" } });
    expect(root.dataset).toMatchObject({ theme: "LIGHT", density: "COMPACT" });
    stop();
    usePreferences.setState({ preferences: { ...SHIPPED, theme: "DARK" } });
    expect(root.dataset.theme).toBe("LIGHT");
  });

  test("rows are as high in the style sheet as in the numbers that place them", () => {
    const heights = [...CSS.matchAll(/--row-height: (\d+)px/g)].map((match) => Number(match[1]));
    expect(heights).toEqual([ROW_HEIGHT_PX.REGULAR, ROW_HEIGHT_PX.COMPACT, ROW_HEIGHT_PX.COMFORTABLE]);
  });
});

/** The colours of a block of the style sheet, by name. */
function palette(block: string, side: 0 | 1): Map<string, string> {
  const start = CSS.indexOf(`${block} {`);
  const text = CSS.slice(start, CSS.indexOf("}", start));
  const pairs = text.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g);
  return new Map([...pairs].map((match) => [match[1] ?? "", match[2 + side] ?? ""]));
}

/** WCAG 2.2, relative luminance. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ["bg", "panel", "line-2", "selected", "accent-bg"];
const TEXT: [ink: string, grounds: string[]][] = [
  ["ink", [...GROUNDS, "warn-bg", "bad-bg"]],
  ["ink-2", GROUNDS],
  ["ink-3", GROUNDS],
  ["accent", GROUNDS],
  ["ok", GROUNDS],
  ["warn", [...GROUNDS, "warn-bg"]],
  ["bad", [...GROUNDS, "bad-bg"]],
  ["on-accent", ["accent"]],
];
const EDGES: [edge: string, grounds: string[]][] = [
  ["control-line", ["bg", "panel"]],
  ["focus", GROUNDS],
];

describe.each([
  ["light", ":root", 0, 4.5],
  ["dark", ":root", 1, 4.5],
  ["high contrast on white", ':root[data-theme="HIGH_CONTRAST"]', 0, 7],
  ["high contrast on black", ':root[data-theme="HIGH_CONTRAST"]', 1, 7],
] as const)("%s", (_name, block, side, least) => {
  const colours = palette(block, side);
  const ratio = (a: string, b: string) => contrast(colours.get(a) ?? "#000000", colours.get(b) ?? "#000000");
  const short = (pairs: typeof TEXT, wanted: number) =>
    pairs.flatMap(([ink, grounds]) =>
      grounds
        .filter((ground) => ratio(ink, ground) < wanted)
        .map((ground) => `${ink} on ${ground}: ${ratio(ink, ground).toFixed(2)}`),
    );

  test("every text can be read on every ground", () => {
    expect(colours.size).toBeGreaterThan(15);
    expect(short(TEXT, least)).toEqual([]);
  });

  test("edges of controls and the focus can be seen", () => {
    expect(short(EDGES, 3)).toEqual([]);
  });
});
