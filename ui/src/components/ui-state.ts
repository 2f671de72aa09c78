import type { Ipc } from "../ipc/ipc";
import { documentStore } from "./document-store";

/** Half-written comments and the like change with every key: they are kept when the reviewer pauses. */
const KEEP_AFTER_MS = 400;

let keep: ((text: string) => void) | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * View, selection and half-written texts, kept in the encrypted journal so that they survive a crash of the window or the
 * application. Write a value whenever it changes, read it once when its feature is drawn for the first time.
 */
export const uiState = documentStore((text) => {
  clearTimeout(timer);
  timer = setTimeout(() => keep?.(text), KEEP_AFTER_MS);
});

/** Reads what was kept, before the first screen is drawn. Without a journal there is nothing to read. */
export async function openUiState(ipc: Ipc) {
  keep = (text) => void ipc.keepUiState(text).catch(() => undefined);
  uiState.load(await ipc.uiState().catch(() => null));
}
