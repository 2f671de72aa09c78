import { type InvokeArgs, type InvokeOptions, invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import type { Changed } from "../generated/Changed";
import type { DeckView } from "../generated/DeckView";
import { decode, type Ipc, toCommandError } from "./ipc";

async function call<T>(command: string, args?: InvokeArgs, options?: InvokeOptions): Promise<T> {
  try {
    return await invoke<T>(command, args, options);
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
  preflight: (ids, decision, figures) => call("preflight", { ids, decision, figures }),
  sign: (request) => call("sign", { request }),
  undo: (batch) => call("undo", { batch }),
  release: (ids) => call("release", { ids }),
  handOver: (ids, to) => call("hand_over", { ids, to }),
  outbox: () => call("outbox"),
  receipts: () => call("receipts"),
  subtotals: (groups) => call("subtotals", { groups }),
  focus: () => call("focus"),
  setFocus: (focus, giveBack) => call("set_focus", { focus, giveBack }),
  backlog: () => call("backlog"),
  closeOverview: () => call("close_overview"),
  history: (id) => call("history", { id }),
  picture: (id) => call("picture", { id }),
  extendLeases: (forMs) => call("extend_leases", { forMs }),
  outboxHistory: (key) => call("outbox_history", { key }),
  batches: () => call("batches"),
  batch: (batch) => call("batch", { batch }),
  cancelUnsent: (batch) => call("cancel_unsent", { batch }),
  saveBatch: (batch, format) => call("save_batch", { batch, format }),
  exportDeck: (ids, format) => call("export_deck", { ids, format }),
  // As raw bytes; the name is a header, which holds ASCII alone.
  readDecisions: (name, bytes) =>
    call("read_decisions", bytes, { headers: { name: encodeURIComponent(name) } }),
  settings: () => call("settings"),
  changeSetting: (name, value) => call("change_setting", { name, value }),
  preferences: () => call("preferences"),
  savePreferences: (preferences) => call("save_preferences", { preferences }),
  uiState: () => call("ui_state"),
  keepUiState: (state) => call("keep_ui_state", { state }),
  testConnection: (profile, password) => call("test_connection", { profile, password }),
  deleteProfile: (name) => call("delete_profile", { name }),
  diagnostics: () => call("diagnostics"),
  letters: (query) => call("letters", { query }),
  letter: (id) => call("letter", { id }),
  takeLetters: (ids, back) => call("take_letters", { ids, back }),
  fixLetter: (fix) => call("fix_letter", { fix }),
  rehearseLetters: (ids) => call("rehearse_letters", { ids }),
  replayLetters: (ids) => call("replay_letters", { ids }),
  discardLetters: (ids, reason) => call("discard_letters", { ids, reason }),
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
