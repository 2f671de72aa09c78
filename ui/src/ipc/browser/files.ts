import type { DeckRow } from "../../generated/DeckRow";
import type { ImportView } from "../../generated/ImportView";
import type { SavedFile } from "../../generated/SavedFile";
import { totalsOf } from "./sums";

export function savedFile(name: string): SavedFile {
  return { path: `/home/me/Documents/Countersign/${name}`, name, bytes: 18_432, sha256: "c4".repeat(32) };
}

/** As if every third row of the deck had been approved and every seventh rejected, whatever the file says. */
export function importOf(file: string, _bytes: Uint8Array, deck: readonly DeckRow[]): ImportView {
  const rejected = deck.filter((_, place) => place % 7 === 3);
  const approved = deck.filter((_, place) => place % 3 === 0 && place % 7 !== 3);
  const groups: ImportView["groups"] = [
    group("APPROVE", null, "agreed by telephone", approved),
    group("REJECT", "WRONG_AMOUNT", "see the vendor’s mail", rejected),
  ];
  return {
    file,
    rows: deck.length + 2,
    undecided: deck.length - approved.length - rejected.length,
    groups: groups.filter(({ ids }) => ids.length > 0),
    differences: deck.slice(0, 3).map((row, place) => ({
      row: place + 2,
      id: row.id,
      column: "Variance",
      in_file: "1.00",
      in_deck: row.amount,
    })),
    problems: [
      { row: 9, id: null, message: "Row 9 names no exception: its identifier is empty." },
      {
        row: 12,
        id: "x900",
        message:
          "Row 12 is about an exception that is not in the deck any more: nothing of it can be signed.",
      },
    ],
  };
}

function group(
  decision: ImportView["groups"][number]["decision"],
  reason: string | null,
  comment: string | null,
  rows: readonly DeckRow[],
) {
  return { decision, reason, comment, ids: rows.map(({ id }) => id), totals: totalsOf(rows) };
}
