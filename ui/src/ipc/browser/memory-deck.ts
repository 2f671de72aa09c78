import type { DecisionChoice } from "../../generated/DecisionChoice";
import type { DeckRow } from "../../generated/DeckRow";
import type { Figure } from "../../generated/Figure";
import type { Focus } from "../../generated/Focus";
import type { SignRequest } from "../../generated/SignRequest";
import { type Arrival, detailOf, rowOf } from "./arrivals";
import { focusLabel, outsideOf } from "./close";
import { checkFigures, effectsOf } from "./effects";
import { checkTyped, marksAt, policyOf, preflightOf } from "./foresight";
import { MemoryOutbox } from "./memory-outbox";
import { earlierDecisions, outboxRow } from "./outbox-rows";
import { pause } from "./pause";
import { earlierReceipts } from "./receipts";
import { withState } from "./row-state";
import type { Scenario } from "./scenario";
import { totalsOf } from "./sums";

const WARN_BEFORE_MS = 120_000;

/** The deck in this page: what is leased, how it adds up, and what is signed of it. */
export class MemoryDeck extends MemoryOutbox {
  protected arrivals = new Map<string, Arrival>();
  protected openedAtMs = performance.now();
  protected inForce: Focus | null = null;
  protected offlineUntil: string | null = null;
  #batches = new Map<string, DeckRow[]>();

  constructor(scenario: Scenario, arrivals: readonly Arrival[]) {
    super(scenario);
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
      this.rows.push(row);
      this.arrivals.set(row.id, arrival);
    }
    if (scenario.outbox) {
      this.decisions = earlierDecisions(this.rows);
      this.kept = earlierReceipts();
    }
    if (scenario.churnMs > 0) setInterval(() => this.churn(), scenario.churnMs);
  }

  async deck() {
    const rows = this.rows.map((row) =>
      withState({ ...row, lease_ends_in_ms: this.left(row.lease_ends_in_ms) }),
    );
    return { version: this.version, rows };
  }

  async detail(id: string) {
    const row = this.rows.find((each) => each.id === id);
    const arrival = this.arrivals.get(id);
    if (row === undefined || arrival === undefined) {
      throw { code: "NOT_IN_DECK", message: "This exception is not in the deck any more." };
    }
    await pause(20);
    return detailOf(arrival, row);
  }

  async totals(ids: readonly string[]) {
    const wanted = new Set(ids);
    const rows = this.rows.filter(({ id }) => wanted.has(id));
    const present = new Set(rows.map(({ id }) => id));
    const partitions = new Set(rows.map(({ partition }) => partition));
    const split = rows.filter(
      ({ group }) =>
        group !== null && this.rows.some((other) => other.group === group && !wanted.has(other.id)),
    );
    return {
      count: rows.length,
      missing: ids.filter((id) => !present.has(id)),
      totals: totalsOf(rows),
      partitions: partitions.size,
      with_partitions: this.rows.filter(({ partition }) => partitions.has(partition)).length,
      split_groups: split.map(({ id }) => id),
      hash_total: [...present].sort().join(" "),
    };
  }

  async preflight(ids: readonly string[], decision: DecisionChoice, figures: readonly Figure[]) {
    await pause(20);
    const wanted = new Set(ids);
    const { offline } = this.scenario;
    const policy = policyOf(offline ? 9_000_000 : 120_000);
    const rows = this.rows.filter(({ id }) => wanted.has(id));
    const effects = decision === "APPROVE" ? effectsOf(rows, this.arrivals, figures) : [];
    return { ...preflightOf(rows, decision, policy, offline), effects };
  }

  async subtotals(groups: readonly (readonly string[])[]) {
    return groups.map((ids) => {
      const wanted = new Set(ids);
      return totalsOf(this.rows.filter(({ id }) => wanted.has(id)));
    });
  }

  async sign(request: SignRequest) {
    const { ids, decision } = request;
    await pause(60);
    if (this.scenario.signFailure !== null)
      throw { code: "JOURNAL_FULL", message: this.scenario.signFailure };
    const wanted = new Set(ids);
    const signed = this.rows.filter(({ id }) => wanted.has(id));
    checkTyped(request, signed);
    checkFigures(request);
    this.rows = this.rows.filter(({ id }) => !wanted.has(id));
    const batch = `b${this.version}`;
    this.#batches.set(batch, signed);
    this.decisions = [
      ...signed.map((row) => ({
        ...outboxRow(row, decision, "HELD"),
        batch,
        reason: request.reason,
        comment: request.comment,
      })),
      ...this.decisions,
    ];
    setTimeout(() => this.send(batch), this.scenario.undoMs);
    this.change();
    return { batch, count: signed.length, undo_ms: this.scenario.undoMs };
  }

  async undo(batch: string) {
    const rows = this.#batches.get(batch) ?? [];
    const back = rows.filter(({ id }) =>
      this.decisions.some((each) => each.exception_id === id && each.state === "HELD"),
    );
    const ids = new Set(back.map(({ id }) => id));
    this.decisions = this.decisions.filter(({ exception_id }) => !ids.has(exception_id));
    this.rows = [...back, ...this.rows];
    this.change();
    return { withdrawn: back.length, too_late: rows.length - back.length };
  }

  async cancelUnsent(batch: string) {
    this.decisions = this.decisions.map((row) =>
      row.batch === batch && row.state === "READY" ? { ...row, state: "HELD" } : row,
    );
    return this.undo(batch);
  }

  async release(ids: readonly string[]) {
    const partitions = new Set(
      this.rows.filter(({ id }) => ids.includes(id)).map(({ partition }) => partition),
    );
    const kept = this.rows.filter(({ partition }) => !partitions.has(partition));
    const count = this.rows.length - kept.length;
    this.rows = kept;
    this.change();
    return count;
  }

  async handOver(ids: readonly string[], to: string) {
    await pause(200);
    if (this.scenario.offline) {
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

  async focus() {
    const label = this.inForce === null ? "Everything" : focusLabel(this.inForce);
    return { focus: this.inForce, label, outside: outsideOf(this.inForce, this.rows).length };
  }

  async setFocus(focus: Focus | null, giveBack: boolean) {
    this.inForce = focus;
    if (giveBack) {
      const outside = new Set(outsideOf(focus, this.rows));
      this.rows = this.rows.filter((row) => !outside.has(row));
    }
    this.change();
    return this.focus();
  }

  async extendLeases(forMs: number) {
    const until = new Date(Date.now() + Math.min(forMs, 43_200_000)).toISOString();
    this.offlineUntil = until;
    const partitions = new Set(this.rows.map(({ partition }) => partition)).size;
    this.change();
    return { partitions, lost: 0, until, message: `${partitions} leases stand until ${until}.` };
  }

  protected leaseWarning(): number | null {
    const left = this.left(this.scenario.leaseMs);
    return this.rows.length > 0 && this.offlineUntil === null && left < WARN_BEFORE_MS ? left : null;
  }

  protected left(ms: number): number {
    return Math.max(0, Math.round(ms - (performance.now() - this.openedAtMs)));
  }

  protected send(batch: string) {
    const ids = new Set((this.#batches.get(batch) ?? []).map(({ id }) => id));
    const state = this.scenario.offline ? "READY" : "COMMITTED";
    const outcome = this.scenario.offline ? null : "COMMITTED";
    this.decisions = this.decisions.map((row) =>
      row.state === "HELD" && ids.has(row.exception_id) ? { ...row, state, outcome } : row,
    );
    this.change();
  }

  protected churn() {
    const [first, ...rest] = this.rows;
    if (first !== undefined) this.rows = rest;
    this.change();
  }
}
