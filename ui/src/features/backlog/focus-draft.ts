import { compareDecimals, formatDecimal } from "../../components/money";
import { readDecimal, type TypedDecimal } from "../../components/number-format";
import type { BacklogLine } from "../../generated/BacklogLine";
import type { Focus } from "../../generated/Focus";
import { groupKey } from "./lines";

/** A focus as it is being written: lists as they are chosen, the rest as it was typed. */
export interface Draft {
  entities: readonly string[];
  kinds: readonly string[];
  tiers: readonly string[];
  /** Codes with spaces or commas between them. */
  currencies: string;
  /** One a line. */
  counterparties: string;
  amountFrom: string;
  amountTo: string;
  dueFrom: string;
  dueTo: string;
  atMost: string;
}

export const EMPTY_DRAFT: Draft = {
  entities: [],
  kinds: [],
  tiers: [],
  currencies: "",
  counterparties: "",
  amountFrom: "",
  amountTo: "",
  dueFrom: "",
  dueTo: "",
  atMost: "",
};

/** The most names that one list of a focus may have. */
const MOST_NAMES = 100;

export type Problems = Partial<Record<keyof Draft, string>>;

function codesOf(text: string): string[] {
  return [
    ...new Set(
      text
        .toUpperCase()
        .split(/[\s,;]+/)
        .filter(Boolean),
    ),
  ];
}

function namesOf(text: string): string[] {
  return [
    ...new Set(
      text
        .split("\n")
        .map((name) => name.replace(/\r$/, ""))
        .filter(Boolean),
    ),
  ];
}

/** What keeps a draft from being a focus, by field: what is expected there. */
export function problemsOf(draft: Draft, bound: number): Problems {
  const problems: Problems = {};
  const tooMany = (count: number) =>
    count > MOST_NAMES ? `${count} are named, and a focus holds ${MOST_NAMES} at most.` : undefined;
  const day = (text: string) => (text === "" || isDay(text) ? undefined : "A day such as 2026-10-31.");
  problems.entities = tooMany(draft.entities.length);
  problems.counterparties = tooMany(namesOf(draft.counterparties).length);
  const odd = codesOf(draft.currencies).find((code) => !/^[A-Z]{3}$/.test(code));
  problems.currencies = odd === undefined ? undefined : `“${odd}” is not a code such as EUR.`;
  const [least, most] = [boundOf(draft.amountFrom), boundOf(draft.amountTo)];
  problems.amountFrom = least?.problem ?? undefined;
  problems.amountTo = most?.problem ?? undefined;
  if (least?.value && most?.value && compareDecimals(least.value, most.value) > 0) {
    problems.amountTo = "Not less than the first.";
  }
  problems.dueFrom = day(draft.dueFrom);
  problems.dueTo = day(draft.dueTo);
  if (!problems.dueFrom && !problems.dueTo && draft.dueTo !== "" && draft.dueFrom > draft.dueTo) {
    problems.dueTo = "Not before the first.";
  }
  const count = Number(draft.atMost);
  if (draft.atMost !== "" && (!/^\d{1,6}$/.test(draft.atMost) || count < 1 || count > bound)) {
    problems.atMost = `From 1 to ${bound}, which is what the deck holds.`;
  }
  for (const field of Object.keys(problems) as (keyof Draft)[]) {
    if (problems[field] === undefined) delete problems[field];
  }
  return problems;
}

/** A bound of the variance as it was typed; `null` where there is none. */
function boundOf(text: string): TypedDecimal | null {
  if (text.trim() === "") return null;
  const read = readDecimal(text);
  if (read.value === null || /^\d{1,20}(\.\d{1,10})?$/.test(read.value)) return read;
  const negative = read.value.startsWith("-");
  return {
    value: null,
    problem: negative
      ? "Without a sign: it is compared with the size."
      : "At most 20 digits and 10 decimals.",
  };
}

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

export function focusOf(draft: Draft): Focus {
  const some = (text: string) => (text === "" ? null : text);
  return {
    entities: [...draft.entities],
    kinds: [...draft.kinds],
    tiers: [...draft.tiers],
    counterparties: namesOf(draft.counterparties),
    currencies: codesOf(draft.currencies),
    amount_from: boundOf(draft.amountFrom)?.value ?? null,
    amount_to: boundOf(draft.amountTo)?.value ?? null,
    due_from: some(draft.dueFrom),
    due_to: some(draft.dueTo),
    at_most: draft.atMost === "" ? null : Number(draft.atMost),
  };
}

export function draftOf(focus: Focus): Draft {
  return {
    entities: focus.entities,
    kinds: focus.kinds,
    tiers: focus.tiers,
    currencies: focus.currencies.join(" "),
    counterparties: focus.counterparties.join("\n"),
    amountFrom: formatDecimal(focus.amount_from ?? ""),
    amountTo: formatDecimal(focus.amount_to ?? ""),
    dueFrom: focus.due_from ?? "",
    dueTo: focus.due_to ?? "",
    atMost: focus.at_most === null ? "" : String(focus.at_most),
  };
}

/** The draft whose lists are those of `chosen`, out of `all`; the rest stays as it was typed. */
export function chooseLines(
  draft: Draft,
  chosen: readonly BacklogLine[],
  all: readonly BacklogLine[],
): Draft {
  const each = (of: (line: BacklogLine) => string) => [...new Set(chosen.map(of))].sort();
  const groups = new Set(chosen.map(groupKey));
  // Rows that are chosen whole stand for every kind and currency in them, also for what arrives later.
  const whole = all.filter((line) => groups.has(groupKey(line))).length <= chosen.length;
  return {
    ...draft,
    entities: each(({ entity }) => entity),
    tiers: each(({ tier }) => tier),
    kinds: whole ? [] : each(({ kind }) => kind),
    currencies: whole ? "" : each(({ currency }) => currency).join(" "),
  };
}

/** Whether the lists of a draft let a line in; what else was typed can only let in less of it. */
export function letsIn(draft: Draft): (line: BacklogLine) => boolean {
  const named = (names: readonly string[]) => {
    const wanted = new Set(names);
    return (name: string) => wanted.size === 0 || wanted.has(name);
  };
  const [entity, tier, kind] = [named(draft.entities), named(draft.tiers), named(draft.kinds)];
  const currency = named(codesOf(draft.currencies));
  return (line) => entity(line.entity) && tier(line.tier) && kind(line.kind) && currency(line.currency);
}

/** Nothing but what the lists say. */
export function hasBounds(draft: Draft): boolean {
  const { counterparties, amountFrom, amountTo, dueFrom, dueTo } = draft;
  return [counterparties, amountFrom, amountTo, dueFrom, dueTo].some((text) => text !== "");
}
