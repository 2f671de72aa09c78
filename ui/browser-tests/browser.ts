import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, inject } from "vitest";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Without these the browser looks for updates and hosts of its own, and asks for a sandbox that root cannot have. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function executable(): string {
  const named = process.env.COUNTERSIGN_CHROMIUM;
  if (named !== undefined && named !== "") return named;
  const found = PLACES.find((path) => existsSync(path));
  if (found === undefined) {
    throw new Error(`no Chromium at ${PLACES.join(", ")}: install it, or name it in COUNTERSIGN_CHROMIUM`);
  }
  return found;
}

export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 1024, height: 700 };
/** What is left of the wide window when everything is twice as large. */
export const ZOOMED = { width: 720, height: 450 };

export interface OpenPage {
  page: Page;
  /** What went wrong in the page: exceptions, messages of the console, dialogs. */
  troubles: string[];
}

/** A browser for the tests of a file. What `open` opened is closed by who asked for it. */
export function browserOfThisFile() {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable(), headless: true, args: FLAGS });
  });
  afterAll(async () => {
    await browser?.close();
  });

  const open = async (query: string, options: BrowserContextOptions = {}): Promise<OpenPage> => {
    if (browser === undefined) throw new Error("the browser has not started");
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce", ...options });
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on("pageerror", (error) => troubles.push(`exception: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error") troubles.push(`console: ${message.text()}`);
    });
    page.on("dialog", (dialog) => {
      troubles.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${inject("address")}${query}`);
    return { page, troubles };
  };
  /** Opens, does, and closes, whatever happens. */
  return async function within<T>(
    query: string,
    act: (opened: OpenPage) => Promise<T>,
    options?: BrowserContextOptions,
  ): Promise<T> {
    const opened = await open(query, options);
    try {
      return await act(opened);
    } finally {
      await opened.page.context().close();
    }
  };
}
