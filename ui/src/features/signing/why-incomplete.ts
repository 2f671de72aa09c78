import type { PreflightView } from "../../generated/PreflightView";
import type { SelectionTotals } from "../../generated/SelectionTotals";

export interface Entered {
  rejects: boolean;
  reason: string | null;
  /** How many ids the list has, with those that left the deck. */
  asked: number;
  leftOut: number;
  /** `undefined` while they are counted. */
  totals: SelectionTotals | undefined;
  /** Currencies whose control total is not typed, or does not read. */
  untyped: readonly string[];
  /** How many corrected amounts do not read. */
  unreadFigures: number;
  /** Nothing is foreseen yet, and it is not known that nothing can be. */
  foreseeing: boolean;
  /** No policy was ever heard of. */
  lawless: boolean;
}

/** What has to be done before the batch can be signed, or `null`. */
export function whyIncomplete(entered: Entered): string | null {
  const { rejects, reason, asked, leftOut, totals, untyped } = entered;
  if (asked === 0) return "Everything was left out: nothing is left to sign.";
  if (totals === undefined) return "Counting…";
  if (totals.count === 0) return "Nothing of it is in the deck any more.";
  if (totals.split_groups.length > 0) {
    return leftOut > 0
      ? "A group is signed whole: leave the others of it out too, or put back."
      : "A group is split: cancel, and select the whole group.";
  }
  if (entered.foreseeing) return "Looking at what will happen…";
  if (entered.lawless) return "No policy is known yet: connect once before you sign.";
  if (rejects && reason === null) return "A rejection carries a reason.";
  if (untyped.length > 0) return `Type the control total of ${untyped.join(", ")}.`;
  if (entered.unreadFigures > 0) return "Type the corrected amount, or leave it as it was read.";
  return null;
}

/** What is foreseen to be refused does not stand in the way: the database decides. */
export function confirmWords(
  rejects: boolean,
  count: number | null,
  preflight: PreflightView | undefined,
): string {
  const refused = preflight?.refused ?? 0;
  const what = `${rejects ? "Reject" : "Approve"} ${count ?? ""}`;
  return refused === 0 ? what : `${what} · ${refused} will be refused`;
}
