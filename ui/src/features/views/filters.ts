import { compareDecimals, formatDecimal } from "../../components/money";
import { currentNumberFormat, readDecimal, type TypedDecimal } from "../../components/number-format";
import type { DeckRow } from "../../generated/DeckRow";
import { capitalised, kindWord } from "../review/words";
import type { ColumnFilter, ColumnId, Setup } from "./setup";

/** What a column shows of a row, as text: what is looked through and chosen from. */
export const TEXTS: Record<ColumnId, (row: DeckRow) => string> = {
  kind: (row) => kindWord(row.kind),
  entity: (row) => row.entity,
  counterparty: (row) => row.counterparty,
  amount: (row) => row.amount,
  currency: (row) => row.currency,
  age: (row) => `${row.age_days} d`,
  aging: (row) => row.aging,
  due: (row) => row.due_on ?? "",
  match: (row) => capitalised(row.match_decision),
  tier: (row) => capitalised(row.tier),
  suggestion: (row) => row.suggestion.label,
  lease: (row) => String(row.lease_ends_in_ms),
  state: (row) => row.state.label,
  partition: (row) => row.partition,
  seq: (row) => row.seq,
  report: (row) => row.group ?? "",
  version: (row) => String(row.version),
};

const SEARCHED: readonly ColumnId[] = [
  "kind",
  "entity",
  "counterparty",
  "amount",
  "currency",
  "match",
  "tier",
  "suggestion",
  "state",
  "report",
];

/** More digits than any amount has. */
const MOST_DIGITS = 28;

const searchTexts = new WeakMap<DeckRow, string>();

/** Everything the quick filter looks at, in lower case. Made once for a row, because every view counts its rows. */
function searchText(row: DeckRow): string {
  let text = searchTexts.get(row);
  if (text === undefined) {
    text = SEARCHED.map((id) => TEXTS[id](row))
      .join("\n")
      .toLowerCase();
    searchTexts.set(row, text);
  }
  return text;
}

/** The digits of a word that is written like a part of an amount on screen, as amounts are kept; `null` for another word. */
function plainDigits(word: string): string | null {
  const { group, mark } = currentNumberFormat();
  const bare = word.replace(/[()]/g, "").replaceAll(group, "").replace(/['’]/g, "").replace(mark, ".");
  return /^[\d.]*\d[\d.]*$/.test(bare) ? bare : null;
}

type Test = (row: DeckRow) => boolean;

/** What a view lets through: its trait, every word of the quick filter, and every column's filter. */
export function filterRows(
  rows: readonly DeckRow[],
  { trait, quick, filters }: Pick<Setup, "trait" | "quick" | "filters">,
): readonly DeckRow[] {
  const tests: Test[] = [];
  if (trait !== null) tests.push((row) => row.traits.includes(trait));
  for (const word of quick.toLowerCase().split(/\s+/).filter(Boolean)) {
    const digits = plainDigits(word);
    tests.push((row) => searchText(row).includes(word) || (digits !== null && row.amount.includes(digits)));
  }
  for (const [id, filter] of Object.entries(filters) as [ColumnId, ColumnFilter][]) {
    tests.push(testOf(id, filter));
  }
  return tests.length === 0 ? rows : rows.filter((row) => tests.every((passes) => passes(row)));
}

function testOf(id: ColumnId, filter: ColumnFilter): Test {
  switch (filter.kind) {
    case "text": {
      const contains = filter.contains.toLowerCase();
      return (row) => TEXTS[id](row).toLowerCase().includes(contains);
    }
    case "values": {
      const values = new Set(filter.values);
      return (row) => values.has(TEXTS[id](row));
    }
    case "amount":
      return ({ amount }) => {
        const size = amount.replace(/^-/, "");
        return (
          (filter.from === null || compareDecimals(size, filter.from) >= 0) &&
          (filter.to === null || compareDecimals(size, filter.to) <= 0)
        );
      };
    case "dates":
      // Dates of this form sort as text.
      return ({ due_on: due }) =>
        due !== null &&
        (filter.from === null || due >= filter.from) &&
        (filter.to === null || due <= filter.to);
    case "days":
      return ({ age_days: days }) =>
        (filter.from === null || days >= filter.from) && (filter.to === null || days <= filter.to);
  }
}

/** The size of an amount as it was typed, or what is wrong with it. */
export function readSize(text: string): TypedDecimal {
  const read = readDecimal(text);
  if (read.value?.startsWith("-")) return { value: null, problem: "A size has no sign." };
  const [whole = "", fraction = ""] = read.value?.split(".") ?? [];
  if (whole.length > MOST_DIGITS || fraction.length > MOST_DIGITS) {
    return { value: null, problem: `At most ${MOST_DIGITS} digits, before the decimals and in them.` };
  }
  return read;
}

/** A filter in words, amounts as the reader writes them: `from 10.00 to 20.00`. */
export function filterWords(filter: ColumnFilter): string {
  if (filter.kind === "text") return `contains “${filter.contains}”`;
  if (filter.kind === "values") {
    const [first, second, ...rest] = filter.values.map((value) => (value === "" ? "none" : value));
    if (first === undefined) return "is nothing";
    if (second === undefined) return `is ${first}`;
    return rest.length === 0 ? `is ${first} or ${second}` : `is ${first} or ${rest.length + 1} others`;
  }
  const bound = (value: string | number) => (filter.kind === "amount" ? formatDecimal(String(value)) : value);
  const from = filter.from === null ? "" : `from ${bound(filter.from)}`;
  const to = filter.to === null ? "" : `to ${bound(filter.to)}`;
  const unit = filter.kind === "days" ? " days" : "";
  return `${[from, to].filter(Boolean).join(" ")}${unit}`;
}

export function anyFilter({ trait, quick, filters }: Pick<Setup, "trait" | "quick" | "filters">): boolean {
  return trait !== null || quick.trim() !== "" || Object.keys(filters).length > 0;
}
