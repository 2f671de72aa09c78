import type { Page } from "playwright-core";
import { test } from "vitest";
import { browserOfThisFile, NARROW, WIDE, ZOOMED } from "./browser";
import { beyondTheEdges, goRoundWithTab, violations } from "./checks";
import { SCREENS } from "./screens";

const within = browserOfThisFile();

const OTHER_THEMES = ["DARK", "HIGH_CONTRAST"] as const;

/** What a theme decides about. Everything else is the same in each, and is looked at in the light one. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** What an attribute of the root chooses is put there directly; that a preference puts it there is tested elsewhere. */
async function setTheme(page: Page, theme: string) {
  await page.evaluate((chosen) => {
    document.documentElement.dataset.theme = chosen;
  }, theme);
}

/** One page for all of these: coming to a screen takes longer than looking at it. Every finding is told, not the first alone. */
test.concurrent.for(SCREENS)("$name", async ({ query, open }, { expect }) => {
  await within(query, async ({ page, troubles }) => {
    await open(page);
    for (const size of [WIDE, NARROW]) {
      await page.setViewportSize(size);
      const at = `at ${size.width} × ${size.height}`;
      await setTheme(page, "LIGHT");
      expect.soft(await violations(page), `axe, LIGHT ${at}`).toEqual([]);
      for (const theme of OTHER_THEMES) {
        await setTheme(page, theme);
        expect.soft(await violations(page, OF_COLOURS), `axe, ${theme} ${at}`).toEqual([]);
      }
    }
    await setTheme(page, "SYSTEM");
    await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
    expect.soft(await violations(page, ["color-contrast"]), "contrast of forced colours").toEqual([]);
    await page.emulateMedia({ forcedColors: "none", colorScheme: "light" });
    for (const size of [NARROW, ZOOMED, WIDE]) {
      await page.setViewportSize(size);
      expect
        .soft(await beyondTheEdges(page), `beyond the edges at ${size.width} × ${size.height}`)
        .toEqual([]);
    }
    const { missed, unseen, count } = await goRoundWithTab(page);
    expect.soft(count, "stops of the Tab key").toBeGreaterThan(0);
    expect.soft({ missed, unseen }, "stops of the Tab key").toEqual({ missed: [], unseen: [] });
    expect.soft(troubles, "what went wrong in the page").toEqual([]);
  });
});
