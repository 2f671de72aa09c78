import { type InvokeArgs, invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import type { Changed } from "../generated/Changed";
import type { DeckView } from "../generated/DeckView";
import { decode, type Ipc, toCommandError } from "./ipc";

async function call<T>(command: string, args?: InvokeArgs): Promise<T> {
  try {
    return await invoke<T>(command, args);
  } catch (thrown) {
    throw toCommandError(thrown);
  }
}

/** The workstation on the other side of the webview. */
export const tauriIpc: Ipc = {
  session: () => call("session"),
  saveProfile: (profile) => call("save_profile", { profile }),
  connect: (profile, password, remember) => call("connect", { profile, password, remember }),
  deck: async () => decode(await call<ArrayBuffer | DeckView>("deck")),
  detail: (id) => call("detail", { id }),
  totals: (ids) => call("totals", { ids }),
  preflight: (ids, decision) => call("preflight", { ids, decision }),
  sign: (request) => call("sign", { request }),
  undo: (batch) => call("undo", { batch }),
  release: (ids) => call("release", { ids }),
  handOver: (ids, to) => call("hand_over", { ids, to }),
  outbox: () => call("outbox"),
  receipts: () => call("receipts"),
  retryNow: () => call("retry_now"),
  retryDead: (key) => call("retry_dead", { key }),
  dismiss: (key) => call("dismiss", { key }),
  signOut: () => call("sign_out"),
  stopWaiting: () => call("stop_waiting"),
  exportOutbox: (profile) => call("export_outbox", { profile }),
  removeEverything: (profile, acknowledged) => call("remove_everything", { profile, acknowledged }),
  drain: () => call("drain"),
  closeNow: () => call("close_now"),
  onChanged: (listener) => listen<Changed>("changed", (event) => listener(event.payload)),
};
