import type { LeavingView } from "../../generated/LeavingView";
import type { PictureView } from "../../generated/PictureView";
import type { Preferences } from "../../generated/Preferences";
import type { Profile } from "../../generated/Profile";
import type { SessionView } from "../../generated/SessionView";
import type { Ipc } from "../ipc";
import { type Arrival, fetchArrivals, rowOf } from "./arrivals";
import { backlogOf, closeOf, focusLabel, historyOf, PERIOD } from "./close";
import { exportOf, leavingOf } from "./departure";
import { importOf, savedFile } from "./files";
import { policyOf } from "./foresight";
import { hostile } from "./hostile";
import { MemoryDeck } from "./memory-deck";
import { MemoryLetters } from "./memory-letters";
import { pause } from "./pause";
import { recorded } from "./recorder";
import { pictureOf } from "./scans";
import { readScenario, type Scenario } from "./scenario";
import { connectionTest, MemorySettings, SILENT_HOST } from "./settings";

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
class MemoryStation extends MemoryDeck implements Ipc {
  #leaving: LeavingView | null = null;
  #all: readonly Arrival[];
  #settings = new MemorySettings();
  #desk: MemoryLetters;
  #profiles: Profile[];

  constructor(scenario: Scenario, arrivals: readonly Arrival[]) {
    super(scenario, arrivals);
    this.#profiles = scenario.needs === "PROFILE" ? [] : [PROFILE, ANOTHER];
    this.#all = arrivals;
    this.#desk = new MemoryLetters(scenario, arrivals);
    if (scenario.revoked !== null) this.#leaving = leavingOf("REVOKED", PROFILE.name, scenario.revoked);
    if (scenario.enrolment !== null && scenario.enrolment > 0) {
      setTimeout(() => this.#confirm(arrivals), scenario.enrolment * 1_000);
    }
    if (scenario.closing) setTimeout(() => void this.drain(), 300);
  }

  async session(): Promise<SessionView> {
    const { offline, needs, bound, undoMs, warning, enrolment, keysInFile } = this.scenario;
    const { workstation, fingerprint } = ENROLMENT;
    const command = `countersign-admin workstation confirm ${workstation} ${fingerprint}`;
    const attention = this.decisions.filter(({ state }) => state === "REFUSED" || state === "DEAD").length;
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
      deck_count: this.rows.length,
      saturated: this.rows.length >= bound,
      lease_ends_in_ms: this.rows.length === 0 ? null : this.left(this.scenario.leaseMs),
      unsent: this.#leaving === null ? this.unsent().length : 0,
      attention,
      undo_window_ms: undoMs,
      dead: this.decisions.filter(({ state }) => state === "DEAD").length,
      policy: policyOf(offline ? 9_000_000 : 120_000),
      enrolment: enrolment === null ? null : { ...ENROLMENT, command },
      leaving: this.#leaving,
      keys_in_file: keysInFile,
      warnings: warning === null ? [] : [warning],
      app_version: "0.1.0",
      focus: this.inForce === null ? null : focusLabel(this.inForce),
      lease_warning_in_ms: this.leaseWarning(),
      offline_until: this.offlineUntil,
      longest_lease_ms: 43_200_000,
      period: PERIOD,
      desk: this.scenario.letters !== 0 && this.#leaving === null,
      scoring: this.scenario.scoring,
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
    this.scenario.needs = "NOTHING";
    this.#leaving = null;
    this.change();
    return this.session();
  }

  async signOut() {
    await pause(600);
    this.#leaving = leavingOf("SIGNED_OUT", PROFILE.name, this.unsent().length);
    this.scenario.needs = "PROFILE";
    this.rows = [];
    this.change();
    return this.session();
  }

  async stopWaiting() {}

  async exportOutbox() {
    await pause(200);
    const found = exportOf(this.#leaving?.unsent ?? 0);
    if (this.#leaving !== null) this.#leaving = { ...this.#leaving, export: found };
    this.change();
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
    this.decisions = [];
    this.scenario.needs = "PROFILE";
    this.change();
    return {
      message: `The journal, the keys and the password of ${profile} were removed from this computer. The connection’s settings stay.`,
    };
  }

  async backlog() {
    this.#readable();
    return backlogOf(this.#all, this.rows, this.scenario);
  }

  async closeOverview() {
    this.#readable();
    return closeOf(this.#all, this.rows, this.scenario);
  }

  async history(id: string) {
    const row = this.rows.find((each) => each.id === id);
    if (this.scenario.offline || row === undefined) {
      throw { code: "OFFLINE", message: "The history needs the database, which cannot be reached." };
    }
    return historyOf(row);
  }

  async picture(id: string): Promise<PictureView | null> {
    const arrival = this.arrivals.get(id);
    if (this.scenario.offline) {
      throw { code: "OFFLINE", message: "The picture needs the database, which cannot be reached." };
    }
    return arrival === undefined ? null : pictureOf(arrival);
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
    return importOf(name, bytes, this.rows);
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

  letters: Ipc["letters"] = (query) => this.#desk.letters(query);
  letter: Ipc["letter"] = (id) => this.#desk.letter(id);
  takeLetters: Ipc["takeLetters"] = (ids, back) => this.#desk.takeLetters(ids, back);
  fixLetter: Ipc["fixLetter"] = (fix) => this.#desk.fixLetter(fix);
  rehearseLetters: Ipc["rehearseLetters"] = (ids) => this.#desk.rehearseLetters(ids);
  replayLetters: Ipc["replayLetters"] = (ids) => this.#desk.replayLetters(ids);
  discardLetters: Ipc["discardLetters"] = (ids, reason) => this.#desk.discardLetters(ids, reason);

  async retryNow() {}

  async closeNow() {
    this.drainingSinceMs = null;
  }

  /** A supervisor has confirmed the key: work begins. */
  #confirm(arrivals: readonly Arrival[]) {
    this.scenario.enrolment = null;
    for (const [place, arrival] of arrivals.slice(0, this.scenario.deck).entries()) {
      const row = rowOf(arrival, place, this.scenario.leaseMs);
      this.rows.push(row);
      this.arrivals.set(row.id, arrival);
    }
    this.change();
  }

  #readable() {
    const { unreadable } = this.scenario;
    if (unreadable !== null) throw { code: "UNREACHABLE", message: unreadable };
  }
}
