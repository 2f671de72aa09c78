import type { Changed } from "../../generated/Changed";
import type { DecisionChoice } from "../../generated/DecisionChoice";
import type { DeckRow } from "../../generated/DeckRow";
import type { Focus } from "../../generated/Focus";
import type { LeavingView } from "../../generated/LeavingView";
import type { OutboxRow } from "../../generated/OutboxRow";
import type { PictureView } from "../../generated/PictureView";
import type { Preferences } from "../../generated/Preferences";
import type { Profile } from "../../generated/Profile";
import type { ReceiptRow } from "../../generated/ReceiptRow";
import type { SessionView } from "../../generated/SessionView";
import type { SignRequest } from "../../generated/SignRequest";
import type { Ipc } from "../ipc";
import { type Arrival, detailOf, fetchArrivals, rowOf } from "./arrivals";
import { batchOf, batchRows, decisionHistory } from "./batches";
import { backlogOf, closeOf, focusLabel, historyOf, outsideOf, PERIOD } from "./close";
import { exportOf, leavingOf } from "./departure";
import { importOf, savedFile } from "./files";
import { checkTyped, marksAt, policyOf, preflightOf } from "./foresight";
import { hostile } from "./hostile";
import { earlierDecisions, outboxRow } from "./outbox-rows";
import { earlierReceipts } from "./receipts";
import { recorded } from "./recorder";
import { withState } from "./row-state";
import { pictureOf } from "./scans";
import { readScenario, type Scenario } from "./scenario";
import { connectionTest, MemorySettings, SILENT_HOST } from "./settings";
import { totalsOf } from "./sums";

const WARN_BEFORE_MS = 120_000;

const PROFILE: Profile = {
  name: "Month-end close",
  host: "ledger.example.internal",
  port: 5432,
  database: "close",
  user: "reviewer-12",
  tls: "verify-full",
  root_certificate: null,
  client_certificate: null,
  client_key: null,
};

/** One that is saved beside the one in use. */
const ANOTHER: Profile = {
  ...PROFILE,
  name: "Year end",
  database: "year_end",
  tls: "disable",
  host: "/run/postgresql",
};

const ENROLMENT = {
  workstation: "6d1f7c52-0b0e-4a39-9a55-c1f2d3a7e840",
  fingerprint: "3fa9-07d2-c41b-88e6",
};

/** Opens a workstation that lives in this page, filled with the demonstration's exceptions. */
export async function openMemoryStation(address: URLSearchParams): Promise<Ipc> {
  const scenario = readScenario(address);
  const station = recorded(new MemoryStation(scenario, await fetchArrivals()));
  return scenario.hostile ? hostile(station) : station;
}

/** Answers as the workstation does, without a database: enough to draw every screen and to work through a deck. */
class MemoryStation implements Ipc {
  #scenario: Scenario;
  #arrivals = new Map<string, Arrival>();
  #rows: DeckRow[] = [];
  #outbox: OutboxRow[] = [];
  #batches = new Map<string, DeckRow[]>();
  #listeners = new Set<(changed: Changed) => void>();
  #version = 1;
  #openedAtMs = performance.now();
  #drainingSinceMs: number | null = null;
  #leaving: LeavingView | null = null;
  #receipts: ReceiptRow[] = [];
  #all: Arrival[] = [];
  #focus: Focus | null = null;
  #offlineUntil: string | null = null;
  #settings = new MemorySettings();
  #profiles: Profile[];

  constructor(scenario: Scenario, arrivals: Arrival[]) {
    this.#scenario = scenario;
    this.#profiles = scenario.needs === "PROFILE" ? [] : [PROFILE, ANOTHER];
    this.#all = arrivals;
    const empty = scenario.enrolment !== null || scenario.revoked !== null;
    for (let place = 0; place < (empty ? 0 : scenario.deck); place += 1) {
      const arrival = arrivals[place % arrivals.length];
      if (arrival === undefined) break;
      const row = rowOf(arrival, place, scenario.leaseMs + 1_000 * (place % 40));
      if (place === 14) {
        row.note = "Changed since it was shown: the amount was 820.00";
        row.version = 2;
      }
      if (place === 5) row.lease_ends_in_ms = 0;
      if (place === 8) row.counterparty = "Stone\u202Eoc.Com Ltd\u200B";
      if (scenario.marks) row.marks = marksAt(place);
      this.#rows.push(row);
      this.#arrivals.set(row.id, arrival);
    }
    if (scenario.outbox) {
      this.#outbox = earlierDecisions(this.#rows);
      this.#receipts = earlierReceipts();
    }
    if (scenario.revoked !== null) this.#leaving = leavingOf("REVOKED", PROFILE.name, scenario.revoked);
    if (scenario.enrolment !== null && scenario.enrolment > 0) {
      setTimeout(() => this.#confirm(arrivals), scenario.enrolment * 1_000);
    }
    if (scenario.closing) setTimeout(() => void this.drain(), 300);
    if (scenario.churnMs > 0) setInterval(() => this.#churn(), scenario.churnMs);
  }

  async session(): Promise<SessionView> {
    const { offline, needs, bound, undoMs, warning, enrolment, keysInFile } = this.#scenario;
    const { workstation, fingerprint } = ENROLMENT;
    const command = `countersign-admin workstation confirm ${workstation} ${fingerprint}`;
    const attention = this.#outbox.filter(({ state }) => state === "REFUSED" || state === "DEAD").length;
    const problem = offline
      ? {
          code: "UNREACHABLE",
          message:
            "The database at ledger.example.internal:5432 does not answer: check the network or the VPN.",
        }
      : null;
    return {
      needs,
      profile: needs === "PROFILE" && this.#leaving === null ? null : PROFILE,
      profiles: this.#profiles,
      reviewer: needs === "NOTHING" ? "reviewer-12" : null,
      workstation: "station 7",
      link: {
        online: !offline && needs === "NOTHING" && enrolment === null && this.#leaving === null,
        problem,
        next_attempt_in_ms: offline ? 14_000 : null,
        last_contact: new Date(Date.now() - (offline ? 1_260_000 : 2_000)).toISOString(),
      },
      queue_maxsize: bound,
      deck_count: this.#rows.length,
      saturated: this.#rows.length >= bound,
      lease_ends_in_ms: this.#rows.length === 0 ? null : this.#left(this.#scenario.leaseMs),
      unsent: this.#leaving === null ? this.#unsent().length : 0,
      attention,
      undo_window_ms: undoMs,
      dead: this.#outbox.filter(({ state }) => state === "DEAD").length,
      policy: policyOf(offline ? 9_000_000 : 120_000),
      enrolment: enrolment === null ? null : { ...ENROLMENT, command },
      leaving: this.#leaving,
      keys_in_file: keysInFile,
      warnings: warning === null ? [] : [warning],
      app_version: "0.1.0",
      focus: this.#focus === null ? null : focusLabel(this.#focus),
      lease_warning_in_ms: this.#leaseWarning(),
      offline_until: this.#offlineUntil,
      longest_lease_ms: 43_200_000,
      period: PERIOD,
    };
  }

  async saveProfile(profile: Profile): Promise<SessionView> {
    this.#profiles = [...this.#profiles.filter(({ name }) => name !== profile.name), profile];
    return this.session();
  }

  async connect(_profile: string, password: string | null): Promise<SessionView> {
    await pause(400);
    if (password !== null && password.length < 3) {
      throw {
        code: "BAD_PASSWORD",
        message:
          "The server refused the password of reviewer-12. Type it again, or ask whoever runs the database.",
      };
    }
    this.#scenario.needs = "NOTHING";
    this.#leaving = null;
    this.#change();
    return this.session();
  }

  async deck() {
    const rows = this.#rows.map((row) =>
      withState({ ...row, lease_ends_in_ms: this.#left(row.lease_ends_in_ms) }),
    );
    return { version: this.#version, rows };
  }

  async detail(id: string) {
    const row = this.#rows.find((each) => each.id === id);
    const arrival = this.#arrivals.get(id);
    if (row === undefined || arrival === undefined) {
      throw { code: "NOT_IN_DECK", message: "This exception is not in the deck any more." };
    }
    await pause(20);
    return detailOf(arrival, row);
  }

  async totals(ids: readonly string[]) {
    const wanted = new Set(ids);
    const rows = this.#rows.filter(({ id }) => wanted.has(id));
    const present = new Set(rows.map(({ id }) => id));
    const partitions = new Set(rows.map(({ partition }) => partition));
    const split = rows.filter(
      ({ group }) =>
        group !== null && this.#rows.some((other) => other.group === group && !wanted.has(other.id)),
    );
    return {
      count: rows.length,
      missing: ids.filter((id) => !present.has(id)),
      totals: totalsOf(rows),
      partitions: partitions.size,
      with_partitions: this.#rows.filter(({ partition }) => partitions.has(partition)).length,
      split_groups: split.map(({ id }) => id),
      hash_total: [...present].sort().join(" "),
    };
  }

  async preflight(ids: readonly string[], decision: DecisionChoice) {
    await pause(20);
    const wanted = new Set(ids);
    const { offline } = this.#scenario;
    const policy = policyOf(offline ? 9_000_000 : 120_000);
    return preflightOf(
      this.#rows.filter(({ id }) => wanted.has(id)),
      decision,
      policy,
      offline,
    );
  }

  async sign(request: SignRequest) {
    const { ids, decision } = request;
    await pause(60);
    if (this.#scenario.signFailure !== null)
      throw { code: "JOURNAL_FULL", message: this.#scenario.signFailure };
    const wanted = new Set(ids);
    const signed = this.#rows.filter(({ id }) => wanted.has(id));
    checkTyped(request, signed);
    this.#rows = this.#rows.filter(({ id }) => !wanted.has(id));
    const batch = `b${this.#version}`;
    this.#batches.set(batch, signed);
    this.#outbox = [
      ...signed.map((row) => ({
        ...outboxRow(row, decision, "HELD"),
        batch,
        reason: request.reason,
        comment: request.comment,
      })),
      ...this.#outbox,
    ];
    setTimeout(() => this.#send(batch), this.#scenario.undoMs);
    this.#change();
    return { batch, count: signed.length, undo_ms: this.#scenario.undoMs };
  }

  async undo(batch: string) {
    const rows = this.#batches.get(batch) ?? [];
    const back = rows.filter(({ id }) =>
      this.#outbox.some((each) => each.exception_id === id && each.state === "HELD"),
    );
    const ids = new Set(back.map(({ id }) => id));
    this.#outbox = this.#outbox.filter(({ exception_id }) => !ids.has(exception_id));
    this.#rows = [...back, ...this.#rows];
    this.#change();
    return { withdrawn: back.length, too_late: rows.length - back.length };
  }

  async release(ids: readonly string[]) {
    const partitions = new Set(
      this.#rows.filter(({ id }) => ids.includes(id)).map(({ partition }) => partition),
    );
    const kept = this.#rows.filter(({ partition }) => !partitions.has(partition));
    const count = this.#rows.length - kept.length;
    this.#rows = kept;
    this.#change();
    return count;
  }

  async handOver(ids: readonly string[], to: string) {
    await pause(200);
    if (this.#scenario.offline) {
      throw {
        code: "OFFLINE",
        message: "Only a database that can be reached hands exceptions to a colleague.",
      };
    }
    if (to === "nobody") {
      throw { code: "REFUSED", message: "nobody is no active reviewer: nothing was handed over." };
    }
    const { partitions } = await this.totals(ids);
    await this.release(ids);
    const message =
      partitions === 1 ? `1 partition is with ${to} now.` : `${partitions} partitions are with ${to} now.`;
    return { partitions, message };
  }

  async receipts() {
    return this.#receipts;
  }

  async signOut() {
    await pause(600);
    this.#leaving = leavingOf("SIGNED_OUT", PROFILE.name, this.#unsent().length);
    this.#scenario.needs = "PROFILE";
    this.#rows = [];
    this.#change();
    return this.session();
  }

  async stopWaiting() {}

  async exportOutbox() {
    await pause(200);
    const found = exportOf(this.#leaving?.unsent ?? 0);
    if (this.#leaving !== null) this.#leaving = { ...this.#leaving, export: found };
    this.#change();
    return found;
  }

  async removeEverything(profile: string, acknowledged: string | null) {
    await pause(200);
    const { unsent = 0, export: found = null } = this.#leaving ?? {};
    if (unsent > 0 && acknowledged !== found?.sha256) {
      throw {
        code: "JOURNAL_FAILED",
        message: `${unsent} unanswered decisions are in the journal, and no export of exactly these was acknowledged: nothing was deleted; send them, or export them and try again.`,
      };
    }
    this.#leaving = null;
    this.#outbox = [];
    this.#scenario.needs = "PROFILE";
    this.#change();
    return {
      message: `The journal, the keys and the password of ${profile} were removed from this computer. The connection’s settings stay.`,
    };
  }

  async outbox() {
    const count = (state: OutboxRow["state"]) => this.#outbox.filter((row) => row.state === state).length;
    return {
      version: this.#version,
      held: count("HELD"),
      ready: count("READY"),
      sending: count("SENDING"),
      committed: count("COMMITTED"),
      refused: count("REFUSED"),
      dead: count("DEAD"),
      oldest_unsent: this.#unsent().at(-1)?.decided_at ?? null,
      next_attempt_in_ms: this.#scenario.offline ? 14_000 : null,
      rows: this.#outbox.slice(0, 500),
    };
  }

  async subtotals(groups: readonly (readonly string[])[]) {
    return groups.map((ids) => {
      const wanted = new Set(ids);
      return totalsOf(this.#rows.filter(({ id }) => wanted.has(id)));
    });
  }

  async focus() {
    const label = this.#focus === null ? "Everything" : focusLabel(this.#focus);
    return { focus: this.#focus, label, outside: outsideOf(this.#focus, this.#rows).length };
  }

  async setFocus(focus: Focus | null, giveBack: boolean) {
    this.#focus = focus;
    if (giveBack) {
      const outside = new Set(outsideOf(focus, this.#rows));
      this.#rows = this.#rows.filter((row) => !outside.has(row));
    }
    this.#change();
    return this.focus();
  }

  async backlog() {
    this.#readable();
    return backlogOf(this.#all, this.#rows, this.#scenario);
  }

  async closeOverview() {
    this.#readable();
    return closeOf(this.#all, this.#rows, this.#scenario);
  }

  async history(id: string) {
    const row = this.#rows.find((each) => each.id === id);
    if (this.#scenario.offline || row === undefined) {
      throw { code: "OFFLINE", message: "The history needs the database, which cannot be reached." };
    }
    return historyOf(row);
  }

  async picture(id: string): Promise<PictureView | null> {
    const arrival = this.#arrivals.get(id);
    if (this.#scenario.offline) {
      throw { code: "OFFLINE", message: "The picture needs the database, which cannot be reached." };
    }
    return arrival === undefined ? null : pictureOf(arrival);
  }

  async extendLeases(forMs: number) {
    const until = new Date(Date.now() + Math.min(forMs, 43_200_000)).toISOString();
    this.#offlineUntil = until;
    const partitions = new Set(this.#rows.map(({ partition }) => partition)).size;
    this.#change();
    return { partitions, lost: 0, until, message: `${partitions} leases stand until ${until}.` };
  }

  async outboxHistory(key: string) {
    return decisionHistory(this.#outbox.find((row) => row.key === key));
  }

  async batches() {
    return batchRows(this.#outbox);
  }

  async batch(batch: string) {
    return batchOf(this.#outbox.filter((row) => row.batch === batch));
  }

  async cancelUnsent(batch: string) {
    this.#outbox = this.#outbox.map((row) =>
      row.batch === batch && row.state === "READY" ? { ...row, state: "HELD" } : row,
    );
    return this.undo(batch);
  }

  async saveBatch(batch: string, format: string) {
    await pause(200);
    return savedFile(`receipt-${batch}.${format.toLowerCase()}`);
  }

  async exportDeck(_ids: readonly string[], format: string) {
    await pause(200);
    return savedFile(`deck.${format.toLowerCase()}`);
  }

  async readDecisions(name: string, bytes: Uint8Array) {
    return importOf(name, bytes, this.#rows);
  }

  async settings() {
    return this.#settings.view();
  }

  async changeSetting(name: string, value: number | null) {
    return this.#settings.change(name, value);
  }

  async preferences() {
    return this.#settings.preferences();
  }

  async savePreferences(preferences: Preferences) {
    this.#settings.keep(preferences);
  }

  async uiState() {
    return sessionStorage.getItem("ui-state");
  }

  async keepUiState(state: string) {
    sessionStorage.setItem("ui-state", state);
  }

  async testConnection(profile: Profile) {
    if (profile.host === SILENT_HOST) await new Promise(() => undefined);
    await pause(400);
    return connectionTest(profile);
  }

  async deleteProfile(name: string) {
    this.#profiles = this.#profiles.filter((profile) => profile.name !== name);
    return this.session();
  }

  async diagnostics() {
    return "Countersign 0.1.0\nworkstation: station 7\nlink: online";
  }

  async retryNow() {}

  async retryDead(key: string) {
    this.#outbox = this.#outbox.map((row) =>
      row.key === key ? { ...row, state: "READY", message: null } : row,
    );
    this.#change();
  }

  async dismiss(key: string) {
    this.#outbox = this.#outbox.filter((row) => row.key !== key);
    this.#change();
  }

  async drain() {
    this.#drainingSinceMs = performance.now();
    this.#change();
  }

  async closeNow() {
    this.#drainingSinceMs = null;
  }

  async onChanged(listener: (changed: Changed) => void) {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** A supervisor has confirmed the key: work begins. */
  #confirm(arrivals: readonly Arrival[]) {
    this.#scenario.enrolment = null;
    for (const [place, arrival] of arrivals.slice(0, this.#scenario.deck).entries()) {
      const row = rowOf(arrival, place, this.#scenario.leaseMs);
      this.#rows.push(row);
      this.#arrivals.set(row.id, arrival);
    }
    this.#change();
  }

  #readable() {
    const { unreadable } = this.#scenario;
    if (unreadable !== null) throw { code: "UNREACHABLE", message: unreadable };
  }

  #leaseWarning(): number | null {
    const left = this.#left(this.#scenario.leaseMs);
    return this.#rows.length > 0 && this.#offlineUntil === null && left < WARN_BEFORE_MS ? left : null;
  }

  #left(ms: number): number {
    return Math.max(0, Math.round(ms - (performance.now() - this.#openedAtMs)));
  }

  #unsent(): OutboxRow[] {
    return this.#outbox.filter(({ state }) => state === "HELD" || state === "READY" || state === "SENDING");
  }

  #send(batch: string) {
    const ids = new Set((this.#batches.get(batch) ?? []).map(({ id }) => id));
    const state = this.#scenario.offline ? "READY" : "COMMITTED";
    const outcome = this.#scenario.offline ? null : "COMMITTED";
    this.#outbox = this.#outbox.map((row) =>
      row.state === "HELD" && ids.has(row.exception_id) ? { ...row, state, outcome } : row,
    );
    this.#change();
  }

  #churn() {
    const [first, ...rest] = this.#rows;
    if (first !== undefined) this.#rows = rest;
    this.#change();
  }

  #change() {
    this.#version += 1;
    const version = this.#version;
    const since = this.#drainingSinceMs;
    const drain =
      since === null
        ? null
        : {
            unsent: this.#unsent().length,
            sent: 9,
            to_release: this.#rows.length,
            gives_up_in_ms: 27_000,
            online: !this.#scenario.offline,
            done: false,
          };
    for (const listener of this.#listeners)
      listener({ deck: version, outbox: version, session: version, drain });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
