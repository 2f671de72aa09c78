import type { DeckRow } from "../../generated/DeckRow";
import type { RowState } from "../../generated/RowState";

const SOON_MS = 120_000;

/** The row with what the State column says of it: the most important of note, lease and marks. */
export function withState(row: DeckRow): DeckRow {
  const traits = row.note === null ? row.traits : [...row.traits, "RETURNED" as const];
  return { ...row, traits, state: stateOf(row) };
}

function stateOf({ note, marks, lease_ends_in_ms: leftMs, group, held_behind: held }: DeckRow): RowState {
  const refusal = marks.find(({ kind }) => kind === "REFUSAL");
  const signed = marks.find(({ kind }) => kind === "SIGNED");
  const other = marks[0];
  if (note !== null) return { label: "Returned: changed", explanation: note, tone: "BAD" };
  if (refusal !== undefined) return { ...refusal, tone: "WARNING" };
  if (leftMs === 0) {
    return {
      label: "Lease lapsed",
      explanation: "It is still good while nobody else has taken it.",
      tone: "WARNING",
    };
  }
  if (leftMs < SOON_MS)
    return { label: "Lease runs out", explanation: "Sign it or extend the lease.", tone: "WARNING" };
  if (signed !== undefined) return { ...signed, tone: "INFO" };
  if (held !== null) {
    return { label: `Held behind #${held.seq}`, explanation: "An earlier one is undecided.", tone: "CALM" };
  }
  if (other !== undefined) return { ...other, tone: "CALM" };
  if (group !== null)
    return { label: "In a report", explanation: `Report ${group} is signed whole.`, tone: "CALM" };
  return { label: "", explanation: "", tone: "CALM" };
}
