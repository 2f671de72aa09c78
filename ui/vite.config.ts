import { readFile } from "node:fs/promises";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const DEMO = new URL("../demo/exceptions.jsonl", import.meta.url);

/** Gives the demonstration's exceptions to the in-memory workstation. The application's own build never contains them. */
function demoExceptions(): Plugin {
  return {
    name: "demo-exceptions",
    configureServer(server) {
      server.middlewares.use("/exceptions.jsonl", (_request, response, next) => {
        readFile(DEMO).then((bytes) => {
          response.setHeader("content-type", "application/x-ndjson; charset=utf-8");
          response.end(bytes);
        }, next);
      });
    },
    async generateBundle() {
      this.emitFile({ type: "asset", fileName: "exceptions.jsonl", source: await readFile(DEMO) });
    },
  };
}

/** The window in a plain browser, and what its frame times are measured against. */
const BROWSER_BUILD = {
  outDir: "dist-browser",
  rolldownOptions: { input: ["index.html", "bare-list.html"] },
};

export default defineConfig(({ mode }) => ({
  // The application serves its files from a custom protocol, where an absolute base would not resolve in every webview.
  base: "./",
  plugins: [react(), ...(mode === "browser" ? [demoExceptions()] : [])],
  build: {
    ...(mode === "browser" ? BROWSER_BUILD : {}),
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // One chunk is right for a window that loads from the disk; the limit is for pages that load from afar.
    chunkSizeWarningLimit: 1200,
  },
  server: { port: 5173, strictPort: true },
  test: {
    environment: "jsdom",
    testTimeout: 30_000,
    setupFiles: ["src/test-setup.ts"],
    css: { modules: { classNameStrategy: "non-scoped" } },
  },
}));
