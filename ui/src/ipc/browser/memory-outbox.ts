import type { Changed } from "../../generated/Changed";
import type { DeckRow } from "../../generated/DeckRow";
import type { OutboxRow } from "../../generated/OutboxRow";
import type { ReceiptRow } from "../../generated/ReceiptRow";
import { batchOf, batchRows, decisionHistory } from "./batches";
import type { Scenario } from "./scenario";

/** Decisions that were made in this page, what became of them, and who is told that something changed. */
export class MemoryOutbox {
  protected scenario: Scenario;
  protected rows: DeckRow[] = [];
  protected decisions: OutboxRow[] = [];
  protected kept: ReceiptRow[] = [];
  protected version = 1;
  protected drainingSinceMs: number | null = null;
  #listeners = new Set<(changed: Changed) => void>();

  constructor(scenario: Scenario) {
    this.scenario = scenario;
  }

  async outbox() {
    const count = (state: OutboxRow["state"]) => this.decisions.filter((row) => row.state === state).length;
    return {
      version: this.version,
      held: count("HELD"),
      ready: count("READY"),
      sending: count("SENDING"),
      committed: count("COMMITTED"),
      refused: count("REFUSED"),
      dead: count("DEAD"),
      oldest_unsent: this.unsent().at(-1)?.decided_at ?? null,
      next_attempt_in_ms: this.scenario.offline ? 14_000 : null,
      rows: this.decisions.slice(0, 500),
    };
  }

  async outboxHistory(key: string) {
    return decisionHistory(this.decisions.find((row) => row.key === key));
  }

  async batches() {
    return batchRows(this.decisions);
  }

  async batch(batch: string) {
    return batchOf(this.decisions.filter((row) => row.batch === batch));
  }

  async receipts() {
    return this.kept;
  }

  async retryDead(key: string) {
    this.decisions = this.decisions.map((row) =>
      row.key === key ? { ...row, state: "READY", message: null } : row,
    );
    this.change();
  }

  async dismiss(key: string) {
    this.decisions = this.decisions.filter((row) => row.key !== key);
    this.change();
  }

  async drain() {
    this.drainingSinceMs = performance.now();
    this.change();
  }

  async onChanged(listener: (changed: Changed) => void) {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  protected unsent(): OutboxRow[] {
    return this.decisions.filter(({ state }) => state === "HELD" || state === "READY" || state === "SENDING");
  }

  protected change() {
    this.version += 1;
    const version = this.version;
    const since = this.drainingSinceMs;
    const drain =
      since === null
        ? null
        : {
            unsent: this.unsent().length,
            sent: 9,
            to_release: this.rows.length,
            gives_up_in_ms: 27_000,
            online: !this.scenario.offline,
            done: false,
          };
    for (const listener of this.#listeners)
      listener({ deck: version, outbox: version, session: version, drain });
  }
}
