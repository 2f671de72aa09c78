const KINDS: Record<string, string> = { recon_break: "Break", sales_claim: "Claim", receipt: "Receipt" };
const LONG_KINDS: Record<string, string> = {
  recon_break: "reconciliation break",
  sales_claim: "sales claim",
  receipt: "expense receipt",
};

/** A name that this version does not know is shown as it came. */
export function kindWord(kind: string): string {
  return KINDS[kind] ?? kind;
}

export function longKindWord(kind: string): string {
  return LONG_KINDS[kind] ?? kind;
}

/** `PARTIAL` and `priority` read `Partial` and `Priority`. */
export function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
}

export function suggestionTone(code: string): "ok" | "warn" | "plain" {
  if (code === "AUTO_RESOLVE" || code === "AUTO_APPROVE") return "ok";
  return code === "ESCALATE" ? "warn" : "plain";
}

/** Why a selection cannot be signed now, or `null`. */
export function whyNotSign(selected: number, hidden: number, splitGroups: number): string | null {
  if (selected === 0) return "Nothing is selected.";
  if (hidden > 0)
    return `${hidden} of the selection ${hidden === 1 ? "is" : "are"} hidden by the filter: drop them or clear the filter.`;
  if (splitGroups > 0) return "Part of a group is not selected: a group is signed whole.";
  return null;
}

export function undoWords(withdrawn: number, tooLate: number): string {
  if (tooLate === 0) return `${withdrawn} withdrawn`;
  const late = `${tooLate} ${tooLate === 1 ? "was" : "were"} already sent`;
  return withdrawn === 0 ? `None withdrawn: ${late}` : `${withdrawn} withdrawn, ${late}`;
}
