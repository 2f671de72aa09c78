import type { DeskView } from "../../generated/DeskView";
import type { LetterRow } from "../../generated/LetterRow";
import type { LetterView } from "../../generated/LetterView";

export function letterRow(id: string, part: Partial<LetterRow> = {}): LetterRow {
  return {
    id,
    status: "OPEN",
    status_words: "Open",
    mine: false,
    cause: "AMOUNT",
    cause_words: "An amount that is not exact in its currency",
    field: "amount",
    reason: "`1.005` has 3 decimal places, EUR has 2.",
    origin: "day.jsonl, line 7",
    first_at: "2026-10-05T08:00:00Z",
    age_days: 3,
    attempts: 1,
    owner: null,
    key: `key of ${id}`,
    kind: "receipt",
    entity: "de-01",
    at_risk: { amount: "12.40", currency: "EUR" },
    corrections: 0,
    ...part,
  };
}

export function letterView(part: Partial<LetterView> = {}): LetterView {
  const field = { at_fault: false, missing: false, original: null };
  return {
    row: letterRow("l1"),
    original: '{"amount":"1.005","note":null}',
    cut: false,
    original_size: "30",
    body: '{\n  "amount": "1.005",\n  "note": null\n}',
    fields: [
      { ...field, path: "amount", value: "1.005", text: true, at_fault: true },
      { ...field, path: "note", value: "null", text: false },
      { ...field, path: "counterparty", value: "", text: true, missing: true },
    ],
    revision: 2,
    changes: [],
    corrections: [],
    history: [],
    discard_by: null,
    discard_reason: null,
    ...part,
  };
}

export function deskView(letters: readonly LetterRow[]): DeskView {
  const cause = {
    cause: "AMOUNT",
    words: "An amount that is not exact in its currency",
    open: letters.length,
    taken: 0,
    oldest: "2026-10-05T08:00:00Z",
    at_risk: [{ amount: "1234.50", currency: "EUR" }],
    without_amount: 1,
  };
  return { causes: letters.length === 0 ? [] : [cause], letters: [...letters], more: 0 };
}
