import { instantText } from "../../components/clock";
import { formatDecimal } from "../../components/money";
import { visibleLines } from "../../components/visible-text";
import type { Amount } from "../../generated/Amount";
import type { LetterChange } from "../../generated/LetterChange";
import type { LetterRow } from "../../generated/LetterRow";
import type { LetterView } from "../../generated/LetterView";
import { kindWord } from "../review/words";

/** The letters in which every word of `filter` is found, in the same order. */
export function filtered(rows: readonly LetterRow[], filter: string): readonly LetterRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const { entity, key, field, reason, owner, origin, kind, status_words, cause_words, at_risk } = row;
    const word = kind === null ? null : kindWord(kind);
    const parts = [entity, key, field, reason, owner, origin, word, status_words, cause_words];
    const text = [...parts, at_risk?.amount, at_risk?.currency].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function amountText({ amount, currency }: Amount): string {
  return `${currency} ${formatDecimal(amount)}`;
}

function changeText({ path, before, after }: LetterChange): string {
  return `${path === "" ? "text" : path}: ${before ?? "nothing"} → ${after ?? "nothing"}`;
}

/** All of a letter, to send to somebody. */
export function letterText(view: LetterView): string {
  const { row, original, changes, corrections, history } = view;
  const named = (name: string, value: string | null) => (value === null ? [] : [`${name}: ${value}`]);
  const lines = [
    `Dead letter ${row.id}: ${row.cause_words}`,
    ...named("Field", row.field),
    `Reason: ${row.reason}`,
    ...named("Entity", row.entity),
    ...named("Key", row.key),
    ...named("At risk", row.at_risk === null ? null : amountText(row.at_risk)),
    `From: ${row.origin}, first on ${instantText(row.first_at, 0)}, ${row.attempts} attempts`,
    `State: ${row.status_words}`,
    ...named("Reason to discard it", view.discard_reason),
    "",
    "Original:",
    original,
    ...(changes.length === 0 ? [] : ["", "Corrected:", ...changes.map(changeText)]),
    ...corrections.map(({ revision, by, at }) => `Correction ${revision} by ${by}, ${instantText(at, 0)}`),
    "",
    ...history.map(
      ({ at, words, actor }) => `${instantText(at, 0)} ${words}${actor === null ? "" : `, ${actor}`}`,
    ),
  ];
  return visibleLines(lines.join("\n"));
}
