import type { DeskView } from "../../generated/DeskView";
import type { LetterCause } from "../../generated/LetterCause";
import type { LetterField } from "../../generated/LetterField";
import type { LetterRow } from "../../generated/LetterRow";
import type { LetterView } from "../../generated/LetterView";
import type { Arrival } from "./arrivals";
import { totalsOf } from "./sums";

/** A dead letter as the in-memory workstation keeps it: the arrival that was spoilt, and what was done since. */
export interface Letter {
  row: LetterRow;
  original: string;
  /** The last correction, or the original. */
  text: string;
  corrections: LetterView["corrections"];
  history: LetterView["history"];
  /** It goes in as soon as this is no longer the value of its field. */
  bad: string | null;
  discard: { by: string; reason: string } | null;
}

interface Spoil {
  cause: string;
  words: string;
  field: string | null;
  reason: string;
  spoil: (arrival: Arrival) => string;
}

const put = (path: string, value: unknown) => (arrival: Arrival) => {
  const copy = JSON.parse(JSON.stringify(arrival)) as Record<string, unknown>;
  const names = path.split(".");
  const last = names.pop() ?? "";
  let at = copy;
  for (const name of names) at = at[name] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return JSON.stringify(copy);
};

const SPOILS: readonly Spoil[] = [
  {
    cause: "AMOUNT",
    words: "An amount that is not exact in its currency",
    field: "variance_amount",
    reason: "`1204.3350` has 4 decimal places, USD has 2.",
    spoil: put("variance_amount", "1204.3350"),
  },
  {
    cause: "CURRENCY",
    words: "A currency that is not in use",
    field: "currency",
    reason: "The currency HRK was withdrawn; it is EUR now.",
    spoil: put("currency", "HRK"),
  },
  {
    cause: "VENDOR",
    words: "The vendor is not known",
    field: "payload.vendor_id",
    reason: "Nobody knows the vendor `manufacturer-0000`: add it, or correct it.",
    spoil: put("payload.vendor_id", "manufacturer-0000"),
  },
  {
    cause: "DATE",
    words: "A date that is not valid",
    field: "submitted_at",
    reason:
      "``: premature end of input; expected an instant of RFC 3339 in UTC such as 2026-10-05T00:10:03Z.",
    spoil: put("submitted_at", ""),
  },
  {
    cause: "FIELD",
    words: "A field is missing or not as expected",
    field: "counterparty",
    reason: "Missing field `counterparty`.",
    spoil: put("counterparty", undefined),
  },
  {
    cause: "UNREADABLE",
    words: "Cannot be read as an arrival",
    field: null,
    reason: "Not JSON: EOF while parsing a string at line 1 column 240.",
    spoil: (arrival) => JSON.stringify(arrival).slice(0, 240),
  },
  {
    cause: "SCORING",
    words: "A workstation could not score it",
    field: null,
    reason: "Its policy has no limit for the currency XTS; 3 attempts.",
    spoil: (arrival) => JSON.stringify(arrival),
  },
];

const DAY_MS = 86_400_000;

/** So many letters, of every cause in turn; fewer of the later ones. */
export function lettersOf(arrivals: readonly Arrival[], count: number): Letter[] {
  const letters: Letter[] = [];
  for (let place = 0; letters.length < count && arrivals.length > 0; place += 1) {
    const turn = place % (SPOILS.length * 2);
    const spoil = SPOILS[turn < SPOILS.length ? turn : (turn % 3) % SPOILS.length];
    const arrival = arrivals[(place * 7) % arrivals.length];
    if (spoil === undefined || arrival === undefined) break;
    letters.push(letterOf(arrival, spoil, letters.length));
  }
  return letters;
}

function letterOf(arrival: Arrival, spoil: Spoil, place: number): Letter {
  const original = spoil.spoil(arrival);
  const days = (place * 5) % 23;
  const first_at = new Date(Date.now() - days * DAY_MS - 3_600_000).toISOString();
  const readable = spoil.cause !== "UNREADABLE" && spoil.cause !== "AMOUNT" && spoil.cause !== "CURRENCY";
  const row: LetterRow = {
    id: `l${place}`,
    status: place % 9 === 4 ? "TAKEN" : place % 31 === 8 ? "DISCARDING" : "OPEN",
    status_words: "",
    mine: false,
    cause: spoil.cause,
    cause_words: spoil.words,
    field: spoil.field,
    reason: spoil.reason,
    origin: `day-${(place % 5) + 1}.jsonl, line ${place * 3 + 7}`,
    first_at,
    age_days: days,
    attempts: 1 + (place % 3 === 2 ? 1 : 0),
    owner: place % 9 === 4 ? "reviewer-03" : null,
    key: spoil.cause === "UNREADABLE" ? null : arrival.idempotency_key,
    kind: arrival.kind,
    entity: arrival.ledger_entity,
    at_risk: readable ? { amount: arrival.variance_amount, currency: arrival.currency } : null,
    corrections: 0,
  };
  return {
    row: withWords(row),
    original,
    text: original,
    corrections: [],
    history: [
      { at: first_at, event: "DEAD_LETTERED", words: "Became a dead letter", actor: "feed", facts: [] },
    ],
    bad: spoil.field === null ? null : (valueAt(original, spoil.field) ?? ""),
    discard: row.status === "DISCARDING" ? { by: "reviewer-07", reason: "A test of the feed." } : null,
  };
}

export function withWords(row: LetterRow): LetterRow {
  const words: Record<string, string> = {
    OPEN: row.corrections > 0 ? "Open, corrected" : "Open",
    TAKEN: row.mine ? "Taken by you" : `Taken by ${row.owner}`,
    REPLAYED: "Went in",
    DISCARDING: "Waits for a supervisor to discard it",
    DISCARDED: "Discarded",
  };
  return { ...row, status_words: words[row.status] ?? row.status };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

export function valueAt(text: string, path: string): string | null {
  return fieldsOf(text, null).find((field) => field.path === path)?.value ?? null;
}

/** The same order as in the text, every value by itself. */
export function fieldsOf(text: string, fault: string | null): LetterField[] {
  const root = parsed(text);
  if (root === null) return [];
  const fields: LetterField[] = [];
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value) && value.length > 0) {
      for (const [place, each] of value.entries()) walk(each, `${path}[${place}]`);
    } else if (
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      Object.keys(value).length > 0
    ) {
      for (const [name, each] of Object.entries(value)) walk(each, path === "" ? name : `${path}.${name}`);
    } else {
      const isText = typeof value === "string";
      fields.push({
        path,
        value: isText ? value : JSON.stringify(value),
        text: isText,
        at_fault: path === fault,
        missing: false,
        original: null,
      });
    }
  };
  walk(root, "");
  if (fault !== null && !fields.some(({ at_fault }) => at_fault)) {
    fields.unshift({ path: fault, value: "", text: true, at_fault: true, missing: true, original: null });
  }
  return fields.slice(0, 500);
}

/** What the real workstation does in Rust, without changing another byte; here the text is written anew. */
export function withValue(text: string, path: string, value: unknown): string {
  const root = parsed(text) ?? {};
  const names = path.split(/[.[\]]+/).filter(Boolean);
  const last = names.pop() ?? "";
  let at: Record<string, unknown> = root;
  for (const name of names) at = at[name] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return JSON.stringify(root);
}

export function changesBetween(before: string, after: string): LetterView["changes"] {
  if (before === after) return [];
  const [old, now] = [fieldsOf(before, null), fieldsOf(after, null)];
  if (old.length === 0 || now.length === 0) return [{ path: "", before, after }];
  const was = new Map(old.map(({ path, value }) => [path, value]));
  const is = new Map(now.map(({ path, value }) => [path, value]));
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => was.get(path) !== is.get(path))
    .map((path) => ({ path, before: was.get(path) ?? null, after: is.get(path) ?? null }));
}

export function viewOf({ row, original, text, corrections, history, discard }: Letter): LetterView {
  const editable = row.cause !== "SCORING";
  const before = new Map(fieldsOf(original, null).map(({ path, value }) => [path, value]));
  const json = parsed(text);
  return {
    row,
    original,
    cut: false,
    original_size: String(original.length),
    body: !editable ? null : json === null ? text : JSON.stringify(json, null, 2),
    fields: editable
      ? fieldsOf(text, row.field).map((field) => {
          const was = before.get(field.path) ?? null;
          return { ...field, original: was === field.value ? null : was };
        })
      : [],
    revision: corrections.length,
    changes: changesBetween(original, text),
    corrections,
    history,
    discard_by: discard?.by ?? null,
    discard_reason: discard?.reason ?? null,
  };
}

const DONE = ["REPLAYED", "DISCARDED"];
const MOST_LETTERS = 2_000;

export function deskOf(letters: readonly Letter[], causes: readonly string[], done: boolean): DeskView {
  const undone = letters.map(({ row }) => row).filter(({ status }) => !DONE.includes(status));
  const wanted = letters
    .map(({ row }) => row)
    .filter((row) => done || !DONE.includes(row.status))
    .filter(({ cause }) => causes.length === 0 || causes.includes(cause))
    .sort((a, b) => (a.first_at < b.first_at ? -1 : 1));
  return {
    causes: causesOf(undone),
    letters: wanted.slice(0, MOST_LETTERS),
    more: Math.max(0, wanted.length - MOST_LETTERS),
  };
}

function causesOf(rows: readonly LetterRow[]): LetterCause[] {
  const lines = [...Map.groupBy(rows, ({ cause }) => cause).values()].map((some): LetterCause => {
    const [first] = some as [LetterRow];
    const amounts = some.flatMap(({ at_risk }) => (at_risk === null ? [] : [at_risk]));
    const sums = totalsOf(
      amounts.map(({ amount, currency }) => ({
        amount: amount.replace("-", ""),
        currency,
        minor_units: amount.split(".")[1]?.length ?? 0,
      })),
    );
    return {
      cause: first.cause,
      words: first.cause_words,
      open: some.filter(({ status }) => status !== "TAKEN").length,
      taken: some.filter(({ status }) => status === "TAKEN").length,
      oldest: some.map(({ first_at }) => first_at).sort()[0] ?? null,
      at_risk: sums.map(({ net, currency }) => ({ amount: net, currency })),
      without_amount: some.length - amounts.length,
    };
  });
  return lines.sort((a, b) => b.open + b.taken - (a.open + a.taken));
}
