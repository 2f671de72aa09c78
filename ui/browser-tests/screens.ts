import type { Page } from "playwright-core";

/** A state of the window that a reviewer can come to: what the workstation pretends, and the way there. */
export interface Screen {
  name: string;
  query: string;
  open: (page: Page) => Promise<void>;
}

const see = (page: Page, testId: string) => page.getByTestId(testId).first().waitFor();

async function go(page: Page, screen: string) {
  await page.getByTestId(`nav-${screen}`).click();
  await page.locator(`[data-testid="nav-${screen}"][aria-current="page"]`).waitFor();
}

async function seeRows(page: Page) {
  await page.locator('[data-testid^="row-"]').first().waitFor();
}

/** Selects some rows from the first one down, as a reviewer does it. */
async function selectRows(page: Page, count: number) {
  await seeRows(page);
  await page.locator('[data-testid^="row-"]').first().click();
  await page.getByTestId("grid").focus();
  for (let place = 1; place < count; place += 1) await page.keyboard.press("Shift+ArrowDown");
}

async function seeSignDialog(page: Page) {
  await selectRows(page, 4);
  await page.keyboard.press("a");
  await see(page, "sign-confirm");
}

/** Before it is foreseen what comes of it nothing is signed, and before the dialog has the focus its keys are not heard. */
async function untilItCanBeSigned(page: Page) {
  await page.locator('[data-testid="sign-confirm"]:enabled').waitFor();
  await page.locator('[data-testid="sign-dialog"] form :focus').waitFor();
}

/** Any action, by its name, from the palette. */
async function perform(page: Page, label: string) {
  await page.keyboard.press("Control+k");
  await page.getByTestId("palette-input").fill(label);
  await page.keyboard.press("Enter");
}

async function goSettings(page: Page, section: string) {
  await go(page, "settings");
  await page.getByTestId(`settings-${section}`).click();
}

/** The desk, with the letter that the keyboard is in. */
async function goLetters(page: Page) {
  await go(page, "letters");
  await see(page, "letter-reason");
  await page.locator('[data-testid="letter-grid"] [role="row"]:focus').waitFor();
}

async function correct(page: Page) {
  await goLetters(page);
  await page.keyboard.press("Enter");
  await page.locator('[data-testid="letter-editor"] :focus').waitFor();
}

const SECTIONS = [
  "appearance",
  "numbers",
  "keyboard",
  "notifications",
  "workstation",
  "profiles",
  "diagnostics",
  "about",
];

/** Every screen, dialog and state. What is not here is looked at by nobody. */
export const SCREENS: readonly Screen[] = [
  { name: "review", query: "?deck=96&marks", open: seeRows },
  { name: "review with a selection", query: "?deck=96&marks", open: (page) => selectRows(page, 5) },
  {
    name: "detail",
    query: "?deck=96&marks",
    open: async (page) => {
      await selectRows(page, 1);
      await see(page, "detail");
    },
  },
  { name: "empty deck", query: "?deck=0", open: (page) => see(page, "deck-pill") },
  { name: "offline", query: "?deck=24&offline&outbox", open: seeRows },
  { name: "full deck with a warning", query: "?deck=100&warning=Leases+are+short", open: seeRows },
  { name: "sign dialog", query: "?deck=96&marks", open: seeSignDialog },
  {
    name: "sign dialog that failed",
    query: "?deck=24&failure=The+disk+is+full.",
    open: async (page) => {
      await seeSignDialog(page);
      await untilItCanBeSigned(page);
      await page.keyboard.press("Control+Enter");
      await page.getByText("The disk is full.").first().waitFor();
    },
  },
  {
    name: "palette",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await page.keyboard.press("Control+k");
      await see(page, "palette");
    },
  },
  {
    name: "keys",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await page.keyboard.press("F1");
      await see(page, "shortcuts");
    },
  },
  {
    name: "choosing columns",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await perform(page, "Choose columns");
      await see(page, "columns-dialog");
    },
  },
  {
    name: "saving a view",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await perform(page, "Save as a new view");
      await see(page, "view-name-dialog");
    },
  },
  {
    name: "grouped by entity",
    query: "?deck=96&marks",
    open: async (page) => {
      await seeRows(page);
      await perform(page, "Group by entity");
      await page.getByRole("treegrid").waitFor();
    },
  },
  {
    name: "a filter that hides everything",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await page.getByTestId("filter").fill("nothing is called that");
      await see(page, "empty");
    },
  },
  {
    name: "handing over",
    query: "?deck=24",
    open: async (page) => {
      await selectRows(page, 2);
      await page.keyboard.press("h");
      await see(page, "hand-over-dialog");
    },
  },
  {
    name: "importing decisions",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await perform(page, "Import decisions");
      await see(page, "import-dialog");
    },
  },
  {
    name: "a toast",
    query: "?deck=24&undo=60000",
    open: async (page) => {
      await seeSignDialog(page);
      await untilItCanBeSigned(page);
      await page.keyboard.press("Control+Enter");
      await see(page, "toast");
    },
  },
  {
    name: "a receipt with its picture",
    query: "?deck=200&bound=200",
    open: async (page) => {
      await seeRows(page);
      await page.getByTestId("filter").fill("expense");
      await page.locator('[data-testid^="row-"]').first().click();
      await see(page, "scan");
    },
  },
  {
    name: "everything selected",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await page.getByTestId("grid").focus();
      await page.keyboard.press("Control+a");
      await see(page, "selection-bar");
    },
  },
  {
    name: "totals of a selection",
    query: "?deck=96&marks",
    open: async (page) => {
      await selectRows(page, 8);
      await page.getByTestId("totals-button").click();
      await see(page, "totals");
    },
  },
  {
    name: "what cannot be signed",
    query: "?deck=96&marks",
    open: async (page) => {
      await seeRows(page);
      await page.getByTestId("grid").focus();
      await page.keyboard.press("Control+a");
      await page.getByTestId("refusals-button").click();
      await see(page, "refusals");
    },
  },
  {
    name: "menu of a column, and its filter",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await page.getByRole("columnheader", { name: "Variance" }).getByRole("button").first().focus();
      await page.keyboard.press("Shift+F10");
      await page.getByTestId("column-filter").click();
      await page.getByTestId("column-filter-apply").waitFor();
    },
  },
  {
    name: "taking work offline",
    query: "?deck=24",
    open: async (page) => {
      await seeRows(page);
      await page.keyboard.press("Alt+o");
      await see(page, "take-offline");
    },
  },
  {
    name: "returning what is not finished",
    query: "?deck=24",
    open: async (page) => {
      await selectRows(page, 2);
      await page.keyboard.press("Alt+u");
      await see(page, "return-dialog");
    },
  },
  {
    name: "leases about to lapse",
    query: "?deck=24&lease=90000",
    open: async (page) => {
      await seeRows(page);
      await see(page, "lease-warning");
    },
  },
  {
    name: "receipt of a confirmation",
    query: "?deck=24&outbox",
    open: async (page) => {
      await seeRows(page);
      await page.keyboard.press("Alt+l");
      await see(page, "batch-receipt");
      await see(page, "receipt-numbers");
    },
  },
  {
    name: "confirmations",
    query: "?deck=24&outbox",
    open: async (page) => {
      await go(page, "sync");
      await page.getByTestId("tab-confirmations").click();
      await see(page, "batches");
    },
  },
  {
    name: "needs attention",
    query: "?deck=24&outbox",
    open: async (page) => {
      await go(page, "sync");
      await page.getByTestId("tab-attention").click();
      await page.locator('[data-testid^="attention-"]').first().waitFor();
    },
  },
  {
    name: "receipts",
    query: "?deck=24&outbox",
    open: async (page) => {
      await go(page, "sync");
      await page.getByTestId("tab-receipts").click();
      await page.locator('[data-testid^="receipt"]').first().waitFor();
    },
  },
  {
    name: "backlog that cannot be read",
    query: "?deck=24&unreadable=No+answer.",
    open: (page) => go(page, "backlog"),
  },
  {
    name: "close that cannot be read",
    query: "?deck=24&unreadable=No+answer.",
    open: (page) => go(page, "close"),
  },
  { name: "backlog of many lines", query: "?deck=24&lines=400", open: (page) => go(page, "backlog") },
  { name: "backlog", query: "?deck=24", open: (page) => go(page, "backlog") },
  { name: "backlog offline", query: "?deck=24&offline", open: (page) => go(page, "backlog") },
  { name: "close overview", query: "?deck=24", open: (page) => go(page, "close") },
  { name: "sync", query: "?deck=24&outbox", open: (page) => go(page, "sync") },
  { name: "sync with nothing in it", query: "?deck=24", open: (page) => go(page, "sync") },
  { name: "sync offline", query: "?deck=24&outbox&offline", open: (page) => go(page, "sync") },
  ...SECTIONS.map((section) => ({
    name: `settings: ${section}`,
    query: "?deck=24",
    open: (page: Page) => goSettings(page, section),
  })),
  {
    name: "settings: a search",
    query: "?deck=24",
    open: async (page) => {
      await go(page, "settings");
      await page.getByTestId("settings-search").fill("lease");
      await page.locator('[data-testid^="setting-lease_timeout_ms"]').first().waitFor();
    },
  },
  {
    name: "settings: a value that is wrong",
    query: "?deck=24",
    open: async (page) => {
      await goSettings(page, "workstation");
      await page.locator('[data-testid^="setting-queue_maxsize"] input').fill("9.5");
      await page.keyboard.press("Enter");
      await page.locator('[aria-invalid="true"]').first().waitFor();
    },
  },
  {
    name: "settings: editing a connection",
    query: "?deck=24",
    open: async (page) => {
      await goSettings(page, "profiles");
      await page.getByTestId("profile-edit").first().click();
      await see(page, "profile-dialog");
    },
  },
  {
    name: "settings: diagnostics shown",
    query: "?deck=24",
    open: async (page) => {
      await goSettings(page, "diagnostics");
      await page.getByTestId("diagnostics").click();
      await see(page, "diagnostics-dialog");
    },
  },
  { name: "first start", query: "?needs=profile", open: (page) => see(page, "connect-form") },
  {
    name: "first start with fields that are wrong",
    query: "?needs=profile",
    open: async (page) => {
      await page.getByTestId("connect-advanced").click();
      await page.getByTestId("port").fill("x");
      await page.getByTestId("connect-test").click();
      await page.locator('[aria-invalid="true"]').first().waitFor();
    },
  },
  {
    name: "connection that failed its test",
    query: "?needs=profile",
    open: async (page) => {
      for (const [field, text] of Object.entries({ name: "C", host: "nowhere", database: "c", user: "u" })) {
        await page.getByTestId(field).fill(text);
      }
      await page.getByTestId("connect-test").click();
      await see(page, "connection-lines");
    },
  },
  { name: "signing in", query: "?needs=password&outbox", open: (page) => see(page, "connect-form") },
  { name: "enrolment", query: "?enrolment=0", open: (page) => see(page, "enrolment") },
  { name: "revoked", query: "?revoked=2", open: (page) => see(page, "leaving") },
  { name: "closing", query: "?deck=24&outbox&closing", open: (page) => see(page, "drain-dialog") },
  {
    name: "signing out",
    query: "?deck=24",
    open: async (page) => {
      await page.getByTestId("sign-out").click();
      await see(page, "sign-out-dialog");
    },
  },
  {
    name: "keys in a file",
    query: "?deck=24&keysfile",
    open: async (page) => {
      await page.getByTestId("keys-in-file").click();
      await see(page, "keys-dialog");
    },
  },
  { name: "dead letters", query: "?deck=24", open: (page) => goLetters(page) },
  {
    name: "dead letters, several selected",
    query: "?deck=24&letters=40",
    open: async (page) => {
      await goLetters(page);
      await page.keyboard.press("Control+a");
      await page.getByText("40 selected").waitFor();
    },
  },
  {
    name: "nothing is dead",
    query: "?deck=24&letters=-1",
    open: async (page) => {
      await go(page, "letters");
      await see(page, "letters-empty");
    },
  },
  {
    name: "dead letters offline",
    query: "?deck=24&offline",
    open: async (page) => {
      await go(page, "letters");
      await see(page, "letters-failure");
    },
  },
  { name: "correcting a letter", query: "?deck=24", open: correct },
  {
    name: "correcting a letter as text",
    query: "?deck=24",
    open: async (page) => {
      await goLetters(page);
      await page.getByTestId("cause-UNREADABLE").click();
      await page.locator('[data-testid="letter-grid"] [role="row"][tabindex="0"]').focus();
      await page.keyboard.press("F2");
      await see(page, "letter-text");
    },
  },
  {
    name: "two corrections of a letter",
    query: "?deck=24&colleague",
    open: async (page) => {
      await correct(page);
      await page.keyboard.type("12.40");
      await page.keyboard.press("Control+Enter");
      await see(page, "letter-conflict");
    },
  },
  {
    name: "a correction that is kept",
    query: "?deck=24",
    open: async (page) => {
      await correct(page);
      await page.keyboard.type("12.40");
      await page.keyboard.press("Control+Enter");
      await see(page, "letter-changes");
    },
  },
  {
    name: "rehearsal of letters",
    query: "?deck=24",
    open: async (page) => {
      await goLetters(page);
      await page.keyboard.press("Control+a");
      await page.keyboard.press("r");
      await see(page, "replay-sum");
    },
  },
  {
    name: "discarding letters",
    query: "?deck=24",
    open: async (page) => {
      await goLetters(page);
      await page.keyboard.press("x");
      await see(page, "discard-dialog");
    },
  },
  {
    name: "sign dialog with a corrected amount",
    query: "?deck=200&bound=200",
    open: async (page) => {
      await seeRows(page);
      await page.getByTestId("filter").fill("expense");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+a");
      await page.keyboard.press("a");
      await see(page, "effects");
      await page.locator('[data-testid^="figure-"][data-testid$="-open"]').first().click();
      await page.locator('[data-testid^="figure-"][data-testid$="-amount"]').fill("not an amount");
    },
  },
];
