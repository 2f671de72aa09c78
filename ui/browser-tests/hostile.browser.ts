import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { browserOfThisFile, NARROW } from "./browser";
import { beyondTheEdges } from "./checks";
import { SCREENS } from "./screens";

const within = browserOfThisFile();

/** What a screen may ask for by being shown. Anything else would have been asked for by a text. */
const READS = new Set(
  `session deck detail totals preflight outbox receipts subtotals focus backlog closeOverview history picture outboxHistory batches
  batch settings preferences letters letter uiState keepUiState onChanged`.split(/\s+/),
);

/** What was done on the way to a screen, beyond reading. */
const ASKED: Record<string, string[]> = {
  "sign dialog that failed": ["sign"],
  "a toast": ["sign"],
  "connection that failed its test": ["testConnection"],
  "settings: diagnostics shown": ["diagnostics"],
  closing: ["drain"],
  "correcting a letter": ["takeLetters"],
  "correcting a letter as text": ["takeLetters"],
  "two corrections of a letter": ["takeLetters", "fixLetter"],
  "a correction that is kept": ["takeLetters", "fixLetter"],
  "rehearsal of letters": ["rehearseLetters"],
};

const ROW = '[data-testid^="row-"]';

const heightOf = (page: Page) =>
  page
    .locator(ROW)
    .first()
    .evaluate((row) => row.getBoundingClientRect().height);

/** What of a hostile text came through as something else than text. */
async function harm(page: Page) {
  return page.evaluate(() => {
    const HIDDEN = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
    // What a field holds to be changed is the text itself.
    const told = ["title", "aria-label", "aria-description", "alt", "placeholder", "href", "src"];
    const attributes = [...document.body.querySelectorAll("*")].flatMap((element) =>
      told
        .filter((name) => HIDDEN.test(element.getAttribute(name) ?? ""))
        .map((name) => `${element.localName} ${name}: ${element.getAttribute(name)?.slice(0, 80)}`),
    );
    // So does an area, which has it between its tags.
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.textContent ?? "";
      if (node.parentElement?.localName === "textarea") continue;
      if (HIDDEN.test(text)) texts.push(`${node.parentElement?.className}: ${text.slice(0, 120)}`);
    }
    return {
      ran: (window as { hostileRan?: unknown }).hostileRan ?? null,
      elements: document.querySelectorAll(
        'img[src="x"], a[href^="javascript:"], body script, svg[onload], [onerror]',
      ).length,
      texts,
      attributes,
    };
  });
}

describe("texts that would do harm", () => {
  test.concurrent.for(SCREENS)("are shown as text: $name", async ({ name, query, open }, { expect }) => {
    await within(`${query}&hostile`, async ({ page, troubles }) => {
      const requests: string[] = [];
      page.on("request", (request) => requests.push(new URL(request.url()).pathname));
      await open(page);
      expect(await harm(page)).toEqual({ ran: null, elements: 0, texts: [], attributes: [] });
      await page.setViewportSize(NARROW);
      expect(await beyondTheEdges(page)).toEqual([]);
      expect(requests.filter((path) => path.endsWith("/x"))).toEqual([]);
      const calls = await page.evaluate(() => window.countersignCalls ?? []);
      const asked = new Set(ASKED[name]);
      expect(calls).toContain("session");
      expect(calls.filter((call) => !READS.has(call) && !asked.has(call))).toEqual([]);
      expect(troubles).toEqual([]);
    });
  });

  test("are seen for what they are, and leave a row as high as it was", async () => {
    const query = "?deck=96&marks";
    const open = SCREENS.find(({ name }) => name === "review")?.open;
    const tame = await within(query, async ({ page }) => {
      await open?.(page);
      return heightOf(page);
    });
    await within(`${query}&hostile`, async ({ page }) => {
      await open?.(page);
      expect(await heightOf(page)).toBe(tame);
      const row = await page.locator(ROW).first().textContent();
      for (const told of ["<img src=x", "<U+202E>", "<U+200B>", "<U+0007>", "<U+000A>", "<U+D800>"]) {
        expect(row).toContain(told);
      }
    });
  });
});
