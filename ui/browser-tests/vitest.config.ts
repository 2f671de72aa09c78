import { defineConfig } from "vitest/config";

/** Tests of the whole window in Chromium, over the workstation in memory. `npm run test:browser` runs them. */
export default defineConfig({
  root: new URL("..", import.meta.url).pathname,
  test: {
    include: ["browser-tests/**/*.browser.ts"],
    environment: "node",
    globalSetup: ["browser-tests/served-window.ts"],
    // A bound for a machine that compiles something else meanwhile; what is awaited comes at once.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each worker has its own browser, and two cores are not enough for more of them.
    maxWorkers: 2,
    maxConcurrency: 2,
  },
});
