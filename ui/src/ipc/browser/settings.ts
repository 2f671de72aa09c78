import type { ConnectionTest } from "../../generated/ConnectionTest";
import type { Preferences } from "../../generated/Preferences";
import type { Profile } from "../../generated/Profile";
import type { SettingChange } from "../../generated/SettingChange";
import type { SettingRow } from "../../generated/SettingRow";
import type { SettingsView } from "../../generated/SettingsView";

type Shipped = readonly [
  name: string,
  label: string,
  unit: string,
  value: number,
  least: number,
  most: number,
];

const SHIPPED: readonly Shipped[] = [
  ["queue_maxsize", "Deck size", "exceptions", 100, 10, 5_000],
  ["lease_prefetch", "Asked for at a time", "exceptions", 50, 1, 5_000],
  ["lease_timeout_ms", "Length of a lease", "ms", 900_000, 30_000, 43_200_000],
  ["commit_batch", "Decisions in one transaction", "decisions", 200, 1, 1_000],
  ["undo_window_ms", "Undo window", "ms", 5_000, 0, 60_000],
  ["drain_timeout_s", "Longest wait when closing", "s", 30, 5, 300],
  ["concurrency", "Scoring workers", "workers", 4, 1, 32],
  ["scoring_prefetch", "Jobs for each worker", "jobs", 1, 1, 8],
  ["max_attempts", "Attempts to score", "attempts", 3, 1, 10],
  ["sync_max_attempts", "Attempts to send", "attempts", 5, 1, 20],
];

const FILE = "/home/me/.config/countersign/config.toml";

/** What some settings are where somebody has set them, so that every source is seen. */
const SET: Record<string, Partial<SettingRow>> = {
  commit_batch: { value: 500, source: "FILE", origin: FILE },
  concurrency: {
    value: 2,
    source: "ENVIRONMENT",
    origin: "COUNTERSIGN_CONCURRENCY",
    fixed: "The environment sets it: change COUNTERSIGN_CONCURRENCY there.",
  },
  undo_window_ms: { source: "POLICY", origin: "version 7", fixed: "Version 7 of the policy sets it." },
};

/** Settings and preferences that last as long as the page. */
export class MemorySettings {
  #rows: SettingRow[] = SHIPPED.map(([name, label, unit, value, least, most]) => ({
    name,
    label,
    explanation: `${label}, in ${unit}.`,
    unit,
    value,
    default: value,
    least,
    most,
    source: "DEFAULT",
    origin: null,
    fixed: null,
    next_start: null,
    ...SET[name],
  }));
  #changes: SettingChange[] = [];
  #preferences: Preferences = {
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

  view(): SettingsView {
    return { file: FILE, rows: this.#rows, changes: this.#changes };
  }

  change(name: string, value: number | null): SettingsView {
    const row = this.#rows.find((each) => each.name === name);
    if (row !== undefined && value !== null && (value < row.least || value > row.most)) {
      throw {
        code: "BAD_SETTING",
        message: `${name}: ${value} is out of range; expected ${row.least} to ${row.most}.`,
      };
    }
    if (row !== undefined) {
      const at = new Date().toISOString();
      this.#changes = [{ name, from: row.next_start ?? row.value, to: value, at }, ...this.#changes].slice(
        0,
        50,
      );
    }
    const next = value ?? row?.default ?? null;
    this.#rows = this.#rows.map((each) =>
      each.name === name ? { ...each, next_start: next === each.value ? null : next } : each,
    );
    return this.view();
  }

  preferences(): Preferences {
    return this.#preferences;
  }

  keep(preferences: Preferences) {
    this.#preferences = preferences;
    // The window's host enlarges everything; a page does it to itself.
    document.documentElement.style.zoom = String(preferences.zoom_percent / 100);
  }
}

const STEPS = [
  ["NAME", "Find the server", "found at 10.4.1.20"],
  ["PORT", "Reach the port", "answers after 3 ms"],
  ["TLS", "Check the certificate", "valid until 2027-03-01"],
  ["LOGIN", "Sign in", "accepted"],
  ["ROLE", "Look up the role", "an active reviewer"],
  ["SCHEMA", "Compare the schema", "the same release"],
  ["CLOCK", "Compare the clocks", "0.2 s apart"],
  ["ENROLMENT", "Look up this workstation", "confirmed"],
] as const;

/** A host of which nothing is ever heard. */
export const SILENT_HOST = "silence";

/** A host that says `nowhere` cannot be found; every other one that answers is good. */
export function connectionTest({ host }: Profile): ConnectionTest {
  const good = !host.includes("nowhere");
  const lines = STEPS.map(([step, label, message], place) => {
    if (good) return { step, label, state: "PASSED" as const, message, remedy: null };
    if (place > 0) return { step, label, state: "SKIPPED" as const, message: "not tried", remedy: null };
    const remedy = "Check the name, or ask whoever runs the database.";
    return { step, label, state: "FAILED" as const, message: `${host} is no known name`, remedy };
  });
  return { lines, good };
}
