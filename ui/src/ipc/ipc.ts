import { createContext, useContext } from "react";
import type { BacklogView } from "../generated/BacklogView";
import type { BatchRow } from "../generated/BatchRow";
import type { BatchView } from "../generated/BatchView";
import type { Changed } from "../generated/Changed";
import type { CloseView } from "../generated/CloseView";
import type { CommandError } from "../generated/CommandError";
import type { ConnectionTest } from "../generated/ConnectionTest";
import type { CurrencyTotal } from "../generated/CurrencyTotal";
import type { DecisionChoice } from "../generated/DecisionChoice";
import type { DeckView } from "../generated/DeckView";
import type { DeskView } from "../generated/DeskView";
import type { DetailView } from "../generated/DetailView";
import type { ExportView } from "../generated/ExportView";
import type { ExtendReply } from "../generated/ExtendReply";
import type { Figure } from "../generated/Figure";
import type { Focus } from "../generated/Focus";
import type { FocusView } from "../generated/FocusView";
import type { HandOverReply } from "../generated/HandOverReply";
import type { HistoryEvent } from "../generated/HistoryEvent";
import type { HistoryView } from "../generated/HistoryView";
import type { ImportView } from "../generated/ImportView";
import type { LetterFix } from "../generated/LetterFix";
import type { LetterQuery } from "../generated/LetterQuery";
import type { LettersReply } from "../generated/LettersReply";
import type { LetterView } from "../generated/LetterView";
import type { OutboxView } from "../generated/OutboxView";
import type { PictureView } from "../generated/PictureView";
import type { Preferences } from "../generated/Preferences";
import type { PreflightView } from "../generated/PreflightView";
import type { Profile } from "../generated/Profile";
import type { ReceiptFormat } from "../generated/ReceiptFormat";
import type { ReceiptRow } from "../generated/ReceiptRow";
import type { RemovedReply } from "../generated/RemovedReply";
import type { SavedFile } from "../generated/SavedFile";
import type { SelectionTotals } from "../generated/SelectionTotals";
import type { SessionView } from "../generated/SessionView";
import type { SettingsView } from "../generated/SettingsView";
import type { SheetFormat } from "../generated/SheetFormat";
import type { SignReceipt } from "../generated/SignReceipt";
import type { SignRequest } from "../generated/SignRequest";
import type { UndoReply } from "../generated/UndoReply";

/**
 * The one door between the window and the workstation. Every call rejects with a `CommandError` and nothing else.
 */
export interface Ipc {
  session(): Promise<SessionView>;
  saveProfile(profile: Profile): Promise<SessionView>;
  connect(profile: string, password: string | null, remember: boolean): Promise<SessionView>;
  deck(): Promise<DeckView>;
  detail(id: string): Promise<DetailView>;
  totals(ids: readonly string[]): Promise<SelectionTotals>;
  /** What is foreseen of a decision; the database decides. */
  preflight(
    ids: readonly string[],
    decision: DecisionChoice,
    figures: readonly Figure[],
  ): Promise<PreflightView>;
  sign(request: SignRequest): Promise<SignReceipt>;
  undo(batch: string): Promise<UndoReply>;
  /** Answers how many exceptions were given back: whole partitions, so it may be more than was asked. */
  release(ids: readonly string[]): Promise<number>;
  /** Hands whole partitions to a colleague, by their login. */
  handOver(ids: readonly string[], to: string): Promise<HandOverReply>;
  outbox(): Promise<OutboxView>;
  /** The latest receipts, newest first. */
  receipts(): Promise<ReceiptRow[]>;
  /** Adds up each list of ids on its own: the subtotals of a grouped grid. */
  subtotals(groups: readonly (readonly string[])[]): Promise<CurrencyTotal[][]>;
  focus(): Promise<FocusView>;
  /** `null` lets everything in. Giving back releases what is undecided and outside of the new focus. */
  setFocus(focus: Focus | null, giveBack: boolean): Promise<FocusView>;
  /** What is pending, from the database's summary; what was last heard of while it cannot be reached. */
  backlog(): Promise<BacklogView>;
  closeOverview(): Promise<CloseView>;
  /** Needs the database. */
  history(id: string): Promise<HistoryView>;
  /** `null`: there is no picture. Needs the database, unless it was shown before. */
  picture(id: string): Promise<PictureView | null>;
  /** Extends every lease to `forMs` from now, at most as long as policy allows. */
  extendLeases(forMs: number): Promise<ExtendReply>;
  /** What this workstation did for one decision, oldest first. */
  outboxHistory(key: string): Promise<HistoryEvent[]>;
  /** Confirmations of the outbox, newest first. */
  batches(): Promise<BatchRow[]>;
  batch(batch: string): Promise<BatchView>;
  /** Takes back what was never sent, also after the undo window. */
  cancelUnsent(batch: string): Promise<UndoReply>;
  saveBatch(batch: string, format: ReceiptFormat): Promise<SavedFile>;
  exportDeck(ids: readonly string[], format: SheetFormat): Promise<SavedFile>;
  /** Reads decisions made in a spreadsheet; signs nothing. */
  readDecisions(name: string, bytes: Uint8Array): Promise<ImportView>;
  settings(): Promise<SettingsView>;
  /** `null` goes back to the default. It takes effect at the next start. */
  changeSetting(name: string, value: number | null): Promise<SettingsView>;
  preferences(): Promise<Preferences>;
  savePreferences(preferences: Preferences): Promise<void>;
  /** What the window kept of itself in the journal: view, selection, half-written comments. */
  uiState(): Promise<string | null>;
  keepUiState(state: string): Promise<void>;
  /** Tries every step of a connection and keeps nothing. */
  testConnection(profile: Profile, password: string | null): Promise<ConnectionTest>;
  deleteProfile(name: string): Promise<SessionView>;
  /** Versions, settings and the state of everything, without secrets or content. */
  diagnostics(): Promise<string>;
  /** The desk of dead letters. It needs the database, and so does everything that is done there. */
  letters(query: LetterQuery): Promise<DeskView>;
  letter(id: string): Promise<LetterView>;
  /** Takes letters to work on, or puts them back. At most 100 in one call, like all that is done with several. */
  takeLetters(ids: readonly string[], back: boolean): Promise<LettersReply>;
  /** Keeps a correction; rejects with `REVISION_CONFLICT` when somebody else kept one meanwhile. */
  fixLetter(fix: LetterFix): Promise<LetterView>;
  /** What would become of each if it were sent in again now. Nothing changes. */
  rehearseLetters(ids: readonly string[]): Promise<LettersReply>;
  replayLetters(ids: readonly string[]): Promise<LettersReply>;
  /** Asks for letters to be discarded; a supervisor who is somebody else has to agree. */
  discardLetters(ids: readonly string[], reason: string): Promise<LettersReply>;
  retryNow(): Promise<void>;
  retryDead(key: string): Promise<void>;
  dismiss(key: string): Promise<void>;
  /** Answers once everything but unsent decisions is off this computer. */
  signOut(): Promise<SessionView>;
  /** Signing out does not wait any longer for what is unsent. */
  stopWaiting(): Promise<void>;
  /** Writes unsent decisions into a file, where the workstation chooses. */
  exportOutbox(profile: string): Promise<ExportView>;
  /** Refuses while there are unsent decisions of which no export is acknowledged by its digest. */
  removeEverything(profile: string, acknowledged: string | null): Promise<RemovedReply>;
  drain(): Promise<void>;
  closeNow(): Promise<void>;
  /** Answers a function that stops listening. */
  onChanged(listener: (changed: Changed) => void): Promise<() => void>;
}

/** Whatever was thrown, as words for the reviewer. */
export function toCommandError(thrown: unknown): CommandError {
  if (typeof thrown === "object" && thrown !== null && "code" in thrown && "message" in thrown) {
    return { code: String(thrown.code), message: String(thrown.message) };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "UNEXPECTED", message: `The application did not answer as expected: ${message}` };
}

/** The deck travels as raw JSON bytes, because it is by far the largest answer; smaller hosts send it as an object. */
export function decode<T extends object>(answer: ArrayBuffer | Uint8Array | T): T {
  // By its tag, because a buffer of another realm is no instance of this one's class.
  const isBytes =
    ArrayBuffer.isView(answer) || Object.prototype.toString.call(answer) === "[object ArrayBuffer]";
  if (!isBytes) return answer as T;
  return JSON.parse(new TextDecoder().decode(answer as ArrayBuffer | Uint8Array)) as T;
}

export const IpcContext = createContext<Ipc | null>(null);

export function useIpc(): Ipc {
  const ipc = useContext(IpcContext);
  if (ipc === null) throw new Error("the window was drawn without a workstation behind it");
  return ipc;
}
