import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Everything that the guidelines ask for, and what their authors recommend beyond. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds, a line for each node. Of `rules` alone where they are given. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated and not put into a script element, so that it works under any content security policy.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const results: AxeResults = await page.evaluate(
    ({ type, values }) =>
      // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page
      (window as any).axe.run(document, { runOnly: { type, values }, resultTypes: ["violations"] }),
    rules === undefined ? { type: "tag", values: TAGS } : { type: "rule", values: [...rules] },
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")} — ${node.failureSummary?.replaceAll("\n", " ")}`),
  );
}

/**
 * What cannot be reached because it is beyond an edge of the window: the page itself does not scroll, so it has to be inside or in
 * something that does. What a person operates may not be cut off at all.
 */
export async function beyondTheEdges(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const OPERATED =
      "button, input, select, textarea, a[href], summary, [tabindex], [role=option], [role=radio]";
    const scrolls = (overflow: string) => overflow === "auto" || overflow === "scroll";
    const found: string[] = [];
    for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
      const box = element.getBoundingClientRect();
      if (element.closest("[inert], [aria-hidden=true]") !== null) continue;
      if (box.width <= 1 || box.height <= 1 || !element.checkVisibility({ visibilityProperty: true }))
        continue;
      const operated = element.matches(OPERATED);
      const right = box.right > window.innerWidth + 1 || box.left < -1;
      const below = operated && (box.bottom > window.innerHeight + 1 || box.top < -1);
      if (!right && !below) continue;
      let held = false;
      for (let up = element.parentElement; up !== null && up !== document.body; up = up.parentElement) {
        const { overflowX, overflowY, clipPath, clip } = getComputedStyle(up);
        const hidden = clipPath.startsWith("inset") || clip.startsWith("rect");
        const x = operated ? scrolls(overflowX) : overflowX !== "visible";
        if (hidden || ((!right || x) && (!below || scrolls(overflowY)))) held = true;
      }
      if (held) continue;
      const name = element.dataset.testid ?? element.className;
      const text = element.textContent?.trim().slice(0, 40);
      found.push(
        `<${element.localName} ${name}> "${text}" at ${Math.round(box.left)}…${Math.round(box.right)} × ${Math.round(box.top)}…${Math.round(box.bottom)}`,
      );
    }
    return found;
  });
}

export interface Stops {
  /** What could take the focus and never did. */
  missed: string[];
  /** What took it without showing it. */
  unseen: string[];
  count: number;
}

/** Goes round the window with Tab, once, and says what was passed over and where the focus could not be seen. */
export async function goRoundWithTab(page: Page): Promise<Stops> {
  const expected = await page.evaluate(() => {
    const name = (element: Element) =>
      (element as HTMLElement).dataset.testid ??
      element.getAttribute("aria-label") ??
      element.textContent?.trim().slice(0, 40) ??
      element.localName;
    // A dialog keeps the focus; what is behind it is inert.
    const root = [...document.querySelectorAll("[role=dialog], [role=alertdialog]")].at(-1) ?? document.body;
    const operated = root.querySelectorAll<HTMLElement>(
      "button, input, select, textarea, a[href], [tabindex]",
    );
    const wanted = [...operated].filter((element) => {
      if (element.tabIndex < 0 || element.closest("[inert]") !== null) return false;
      // Arrow keys move within these; Tab comes to the chosen one.
      const group = element.parentElement?.closest(
        "[role=toolbar], [role=radiogroup], [role=tablist], [role=listbox]",
      );
      const chosen = element.matches(
        "[aria-pressed=true], [aria-checked=true], [aria-selected=true], :checked",
      );
      if (group !== null && !chosen) return false;
      if (element.matches(":disabled") || element.getAttribute("aria-hidden") === "true") return false;
      if (element.closest("[aria-hidden=true], [data-focus-scope-start], [data-focus-scope-end]") !== null)
        return false;
      return element.checkVisibility({ visibilityProperty: true });
    });
    wanted.forEach((element, place) => {
      element.dataset.tabStop = String(place);
    });
    return wanted.map(name);
  });
  const seen = new Set<number>();
  const unseen: string[] = [];
  for (let step = 0; step < expected.length * 2 + 10 && seen.size < expected.length; step += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(async () => {
      const element = document.activeElement as HTMLElement | null;
      // A list gives its focus to one of its options.
      const marked = element?.closest<HTMLElement>("[role=listbox]") ?? element;
      if (element === null || marked?.dataset.tabStop === undefined) return null;
      const rings = (style: CSSStyleDeclaration) =>
        (style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2) ||
        style.boxShadow !== "none";
      // A control that draws itself passes its focus on to what is drawn, a row to what lies over it.
      const shows = () =>
        [element, element.closest("[data-focus-visible]")].some(
          (each) =>
            each !== null && (rings(getComputedStyle(each)) || rings(getComputedStyle(each, "::after"))),
        );
      // Styles within a container that was resized are settled a frame later.
      for (let frame = 0; frame < 60 && !shows(); frame += 1) await new Promise(requestAnimationFrame);
      return { place: Number(marked.dataset.tabStop), shown: shows() };
    });
    if (stop === null || seen.has(stop.place)) continue;
    seen.add(stop.place);
    if (!stop.shown) unseen.push(expected[stop.place] ?? "");
  }
  return { missed: expected.filter((_, place) => !seen.has(place)), unseen, count: expected.length };
}
