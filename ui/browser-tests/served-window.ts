import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, preview } from "vite";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    address: string;
  }
}

/** Builds the window with the workstation in memory behind it, and serves it on a free port for as long as the tests run. */
export default async function serveWindow(project: TestProject) {
  const outDir = await mkdtemp(join(tmpdir(), "countersign-window-"));
  const shared = { root: project.config.root, mode: "browser", logLevel: "warn" } as const;
  await build({ ...shared, build: { outDir, emptyOutDir: true } });
  const server = await preview({
    ...shared,
    build: { outDir },
    preview: { host: "127.0.0.1", port: 0, strictPort: false, open: false },
  });
  const address = server.resolvedUrls?.local[0];
  if (address === undefined) throw new Error("the window is not served anywhere");
  project.provide("address", address);
  return async () => {
    await server.close();
    await rm(outDir, { recursive: true, force: true });
  };
}
