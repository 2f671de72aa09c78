import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { browserOfThisFile } from "./browser";

const within = browserOfThisFile();

async function openSettings(page: Page, section: string) {
  await page.getByTestId("nav-settings").click();
  await page.getByTestId(`settings-${section}`).click();
}

const background = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => getComputedStyle(element).backgroundColor);

test("a theme, a height of rows and a number style are in force as soon as they are chosen", async () => {
  await within("?deck=24", async ({ page }) => {
    const row = page.locator('[data-testid^="row-"]').first();
    await row.waitFor();
    const light = await background(page, "body");
    await openSettings(page, "appearance");
    await page.getByText("Dark", { exact: true }).click();
    await expect.poll(() => background(page, "body")).not.toBe(light);
    await page.getByText("Comfortable", { exact: true }).click();
    await page.getByTestId("settings-numbers").click();
    await page.getByText("1.234,56", { exact: true }).click();
    await page.getByTestId("nav-review").click();
    await expect.poll(() => row.evaluate((element) => element.getBoundingClientRect().height)).toBe(36);
    await expect.poll(() => page.getByTestId("grid").textContent()).toMatch(/\d,\d\d/);
  });
});

test("everything becomes larger, and nothing is lost at the edges by it", async () => {
  await within("?deck=24", async ({ page }) => {
    await openSettings(page, "appearance");
    const button = page.getByTestId("zoom-larger");
    const before = (await button.boundingBox())?.height ?? 0;
    await button.click();
    await page.getByText("110 %").waitFor();
    await expect.poll(async () => (await button.boundingBox())?.height ?? 0).toBeGreaterThan(before * 1.05);
  });
});

test("what is chosen can be told from what is not where the system forces its colours", async () => {
  const open = async ({ page }: { page: Page }) => {
    await openSettings(page, "appearance");
    const chosen = '[data-testid="theme"] [data-selected]';
    const other = '[data-testid="theme"] [data-testid="theme-DARK"]';
    await page.locator(chosen).waitFor();
    expect(await background(page, chosen)).not.toBe(await background(page, other));
    const { text, ground } = await page.locator(chosen).evaluate((element) => {
      const { color, backgroundColor } = getComputedStyle(element);
      return { text: color, ground: backgroundColor };
    });
    expect(text).not.toBe(ground);
    await page.getByTestId("nav-review").click();
    await page.locator('[data-testid^="row-"]').first().click();
    await page.getByTestId("grid").focus();
    await page.keyboard.press("Shift+ArrowDown");
    const row = '[data-testid^="row-"][aria-selected="true"]';
    await page.locator(row).first().waitFor();
    expect(await background(page, row)).not.toBe(
      await background(page, '[data-testid^="row-"][aria-selected="false"]'),
    );
  };
  await within("?deck=24", open, { forcedColors: "active", colorScheme: "dark" });
});

test("nothing moves for who prefers that nothing does", async () => {
  for (const [reducedMotion, moving] of [
    ["reduce", 0],
    ["no-preference", 1],
  ] as const) {
    await within(
      "?needs=profile",
      async ({ page }) => {
        for (const field of ["name", "host", "database", "user"])
          await page.getByTestId(field).fill("silence");
        await page.getByTestId("connect-test").click();
        await page.getByText("Trying the connection…").waitFor();
        expect(await page.evaluate(() => document.getAnimations().length)).toBe(moving);
      },
      { reducedMotion },
    );
  }
});
