import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import { vi } from "vitest";
import { useToasts } from "./components/toast-store";
import { uiState } from "./components/ui-state";
import { useReceiptDialog } from "./features/batches/receipt-store";
import { useReview } from "./features/review/review-store";
import { NOTHING_SELECTED } from "./features/review/selection";
import { EVERYTHING } from "./features/views/setup";
import { useViews } from "./features/views/views-store";
import type { DeckRow } from "./generated/DeckRow";
import type { LettersReply } from "./generated/LettersReply";
import type { Preferences } from "./generated/Preferences";
import type { SessionView } from "./generated/SessionView";
import { type Ipc, IpcContext } from "./ipc/ipc";
import { createQueryClient } from "./ipc/reads";

export function deckRow(id: string, part: Partial<DeckRow> = {}): DeckRow {
  return {
    id,
    kind: "recon_break",
    entity: "us-onrr",
    counterparty: `Counterparty ${id}`,
    amount: "10.00",
    currency: "USD",
    minor_units: 2,
    submitted_at: "2026-10-05T00:00:00Z",
    match_decision: "PARTIAL",
    tier: "standard",
    suggestion: { code: "ROUTE_REVIEW", label: "Review", reasons: [] },
    partition: "p",
    seq: "1",
    group: null,
    version: 1,
    lease_ends_in_ms: 900_000,
    note: null,
    marks: [],
    age_days: 12,
    aging: "0-30",
    due_on: "2026-11-04",
    overdue: false,
    traits: [],
    held_behind: null,
    state: { label: "", explanation: "", tone: "CALM" },
    ...part,
  };
}

export const SESSION: SessionView = {
  needs: "NOTHING",
  profile: null,
  profiles: [],
  reviewer: "reviewer-12",
  workstation: "station 7",
  link: { online: true, problem: null, next_attempt_in_ms: null, last_contact: null },
  queue_maxsize: 100,
  deck_count: 0,
  saturated: false,
  lease_ends_in_ms: null,
  unsent: 0,
  dead: 0,
  attention: 0,
  undo_window_ms: 5_000,
  policy: {
    version: 3,
    as_of: "2026-10-05T08:00:00Z",
    attestation: "I have examined these exceptions.",
    reason_codes: [{ code: "WRONG_AMOUNT", label: "The amount is wrong" }],
  },
  enrolment: null,
  leaving: null,
  keys_in_file: false,
  warnings: [],
  app_version: "0.1.0",
  focus: null,
  lease_warning_in_ms: null,
  offline_until: null,
  longest_lease_ms: 43_200_000,
  period: null,
  desk: false,
  scoring: 0,
};

export const PREFERENCES: Preferences = {
  theme: "SYSTEM",
  density: "REGULAR",
  negatives: "PARENTHESES",
  numbers: "COMMA_POINT",
  motion: "SYSTEM",
  zoom_percent: 100,
  notifications: true,
  keymap: {},
  layout: "",
};

const SAVED_FILE = {
  path: "/home/me/Documents/Countersign/receipt.pdf",
  name: "receipt.pdf",
  bytes: 12_000,
  sha256: "ab".repeat(32),
};

/** Everything that was asked of letters was done. */
function repliedTo(ids: readonly string[], outcome: string): LettersReply {
  const letters = ids.map((id) => ({ id, outcome, passes: true, words: outcome, field: null }));
  return { letters, message: `${ids.length} done.`, wait_ms: null };
}

/** A workstation whose deck is `rows`; every command is a spy that can be told otherwise. */
export function fakeIpc(rows: DeckRow[]) {
  return {
    session: vi.fn<Ipc["session"]>(async () => SESSION),
    saveProfile: vi.fn<Ipc["saveProfile"]>(async () => SESSION),
    connect: vi.fn<Ipc["connect"]>(async () => SESSION),
    deck: vi.fn<Ipc["deck"]>(async () => ({ version: 1, rows })),
    detail: vi.fn<Ipc["detail"]>(() => new Promise(() => undefined)),
    totals: vi.fn<Ipc["totals"]>(async (ids) => ({
      count: ids.length,
      missing: [],
      totals: [],
      partitions: 1,
      with_partitions: rows.length,
      split_groups: [],
      hash_total: `hash of ${ids.join(" ")}`,
    })),
    preflight: vi.fn<Ipc["preflight"]>(async (ids) => ({
      policy_version: 3,
      as_of: "2026-10-05T08:00:00Z",
      stale: null,
      groups: [
        {
          outcome: "COMMITTED",
          accepted: true,
          label: `${ids.length} will commit`,
          explanation: "Committed.",
          ids: [...ids],
          totals: [],
        },
      ],
      refused: 0,
      warnings: [],
      type_totals: [],
      effects: [],
      attestation: "I have examined these exceptions.",
    })),
    sign: vi.fn<Ipc["sign"]>(async ({ ids }) => ({ batch: "b1", count: ids.length, undo_ms: 5_000 })),
    undo: vi.fn<Ipc["undo"]>(async () => ({ withdrawn: 1, too_late: 0 })),
    release: vi.fn<Ipc["release"]>(async (ids) => ids.length),
    handOver: vi.fn<Ipc["handOver"]>(async (_ids, to) => ({
      partitions: 1,
      message: `1 partition is with ${to} now.`,
    })),
    receipts: vi.fn<Ipc["receipts"]>(async () => []),
    outbox: vi.fn<Ipc["outbox"]>(() => new Promise(() => undefined)),
    subtotals: vi.fn<Ipc["subtotals"]>(async (groups) => groups.map(() => [])),
    focus: vi.fn<Ipc["focus"]>(async () => ({ focus: null, label: "Everything", outside: 0 })),
    setFocus: vi.fn<Ipc["setFocus"]>(async (focus) => ({ focus, label: "As asked", outside: 0 })),
    backlog: vi.fn<Ipc["backlog"]>(() => new Promise(() => undefined)),
    closeOverview: vi.fn<Ipc["closeOverview"]>(() => new Promise(() => undefined)),
    history: vi.fn<Ipc["history"]>(() => new Promise(() => undefined)),
    picture: vi.fn<Ipc["picture"]>(async () => null),
    extendLeases: vi.fn<Ipc["extendLeases"]>(async () => ({
      partitions: 1,
      lost: 0,
      until: "2026-10-05T18:00:00Z",
      message: "1 lease stands until 18:00.",
    })),
    outboxHistory: vi.fn<Ipc["outboxHistory"]>(async () => []),
    batches: vi.fn<Ipc["batches"]>(async () => []),
    batch: vi.fn<Ipc["batch"]>(() => new Promise(() => undefined)),
    cancelUnsent: vi.fn<Ipc["cancelUnsent"]>(async () => ({ withdrawn: 1, too_late: 0 })),
    saveBatch: vi.fn<Ipc["saveBatch"]>(async () => SAVED_FILE),
    exportDeck: vi.fn<Ipc["exportDeck"]>(async () => SAVED_FILE),
    readDecisions: vi.fn<Ipc["readDecisions"]>(() => new Promise(() => undefined)),
    settings: vi.fn<Ipc["settings"]>(() => new Promise(() => undefined)),
    changeSetting: vi.fn<Ipc["changeSetting"]>(() => new Promise(() => undefined)),
    preferences: vi.fn<Ipc["preferences"]>(async () => PREFERENCES),
    savePreferences: vi.fn<Ipc["savePreferences"]>(async () => undefined),
    uiState: vi.fn<Ipc["uiState"]>(async () => null),
    keepUiState: vi.fn<Ipc["keepUiState"]>(async () => undefined),
    testConnection: vi.fn<Ipc["testConnection"]>(async () => ({ lines: [], good: true })),
    deleteProfile: vi.fn<Ipc["deleteProfile"]>(async () => SESSION),
    diagnostics: vi.fn<Ipc["diagnostics"]>(async () => "Countersign 0.1.0"),
    letters: vi.fn<Ipc["letters"]>(() => new Promise(() => undefined)),
    letter: vi.fn<Ipc["letter"]>(() => new Promise(() => undefined)),
    takeLetters: vi.fn<Ipc["takeLetters"]>(async (ids) => repliedTo(ids, "TAKEN")),
    fixLetter: vi.fn<Ipc["fixLetter"]>(() => new Promise(() => undefined)),
    rehearseLetters: vi.fn<Ipc["rehearseLetters"]>(async (ids) => repliedTo(ids, "ENQUEUED")),
    replayLetters: vi.fn<Ipc["replayLetters"]>(async (ids) => repliedTo(ids, "ENQUEUED")),
    discardLetters: vi.fn<Ipc["discardLetters"]>(async (ids) => repliedTo(ids, "DISCARDING")),
    retryNow: vi.fn<Ipc["retryNow"]>(async () => undefined),
    retryDead: vi.fn<Ipc["retryDead"]>(async () => undefined),
    dismiss: vi.fn<Ipc["dismiss"]>(async () => undefined),
    signOut: vi.fn<Ipc["signOut"]>(async () => SESSION),
    stopWaiting: vi.fn<Ipc["stopWaiting"]>(async () => undefined),
    exportOutbox: vi.fn<Ipc["exportOutbox"]>(async () => ({
      path: "/home/me/Documents/countersign-unsent.jsonl",
      count: 2,
      sha256: "ab".repeat(32),
    })),
    removeEverything: vi.fn<Ipc["removeEverything"]>(async () => ({ message: "Removed." })),
    drain: vi.fn<Ipc["drain"]>(async () => undefined),
    closeNow: vi.fn<Ipc["closeNow"]>(async () => undefined),
    onChanged: vi.fn<Ipc["onChanged"]>(async () => () => undefined),
  } satisfies Ipc;
}

/** Draws `screen` over `ipc`, from a window in which nothing has been done yet. */
export function renderWith(ipc: Ipc, screen: React.ReactNode) {
  useReview.setState({
    selection: NOTHING_SELECTED,
    revision: 0,
    batch: null,
    handOver: null,
    signed: null,
    importOpen: false,
  });
  useViews.setState({ own: [], current: "all", setup: EVERYTHING, collapsed: new Set(), question: null });
  useToasts.setState({ toasts: [] });
  useReceiptDialog.setState({ batch: null });
  uiState.load(null);
  const client = createQueryClient();
  render(
    <IpcContext value={ipc}>
      <QueryClientProvider client={client}>{screen}</QueryClientProvider>
    </IpcContext>,
  );
  return client;
}
