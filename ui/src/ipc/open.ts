import type { Ipc } from "./ipc";

/**
 * The in-memory workstation exists for a plain browser only. The mode is a constant at build time, so that the production bundle
 * contains neither it nor a way to reach it.
 */
export async function openIpc(): Promise<Ipc> {
  if (import.meta.env.MODE === "browser") {
    const { openMemoryStation } = await import("./browser/memory-station");
    return openMemoryStation(new URLSearchParams(window.location.search));
  }
  const { tauriIpc } = await import("./tauri");
  return tauriIpc;
}
