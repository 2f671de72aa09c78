import type { DecisionChoice } from "../../generated/DecisionChoice";
import type { DeckRow } from "../../generated/DeckRow";
import type { Mark } from "../../generated/Mark";
import type { PolicyView } from "../../generated/PolicyView";
import type { PreflightView } from "../../generated/PreflightView";
import type { SignRequest } from "../../generated/SignRequest";
import type { SignWarning } from "../../generated/SignWarning";
import { totalsOf } from "./sums";

export const SIGNED: Mark = {
  kind: "SIGNED",
  label: "1 of 2 signed",
  explanation: "It takes effect with a second signature. Decide it for yourself.",
};

const REVERSAL: Mark = {
  kind: "REVERSAL",
  label: "Reversal of 5f1c09ab…",
  explanation: "It undoes the exception with the key 5f1c09ab77e04d12.",
};

const PREPARED: Mark = {
  kind: "REFUSAL",
  label: "You prepared it",
  explanation: "You prepared it, or signed what it reverses, so somebody else has to sign it.",
};

const CLOSED: Mark = {
  kind: "REFUSAL",
  label: "Period closed",
  explanation: "Its close period is closed. Ask a supervisor to reopen it, or leave it to the next period.",
};

/** A bit of everything, always at the same places. */
export function marksAt(place: number): Mark[] {
  if (place % 17 === 2) return [SIGNED];
  if (place % 23 === 6) return [REVERSAL];
  if (place % 31 === 9) return [PREPARED];
  if (place % 37 === 11) return [SIGNED, CLOSED];
  return [];
}

export function policyOf(ageMs: number): PolicyView {
  return {
    version: 7,
    as_of: new Date(Date.now() - ageMs).toISOString(),
    attestation: "I have examined these exceptions and their evidence, and I decide as stated.",
    reason_codes: [
      { code: "NOT_SUPPORTED", label: "Evidence does not support it" },
      { code: "WRONG_AMOUNT", label: "The amount is wrong" },
      { code: "WRONG_ENTITY", label: "It belongs to another entity" },
      { code: "DUPLICATE_ITEM", label: "It is there twice" },
    ],
  };
}

const ANSWERS = {
  COMMITTED: { accepted: true, words: "will commit", explanation: "Committed." },
  AWAITING_SECOND: {
    accepted: true,
    words: "will wait for a second signature",
    explanation: "Signed; waits for a second signature.",
  },
  PREPARER: { accepted: false, words: "will be refused: you prepared it", explanation: PREPARED.explanation },
  OVER_LIMIT: {
    accepted: false,
    words: "will be refused: over your limit",
    explanation: "It is over your limit. Ask somebody with a higher one to sign it.",
  },
  PERIOD_CLOSED: {
    accepted: false,
    words: "will be refused: period closed",
    explanation: CLOSED.explanation,
  },
};

type Foreseen = keyof typeof ANSWERS;

function foresee(row: DeckRow, decision: DecisionChoice): Foreseen {
  if (row.marks.includes(PREPARED)) return "PREPARER";
  const digits = row.amount.replace("-", "").split(".")[0]?.length ?? 0;
  if (digits > 6) return "OVER_LIMIT";
  if (row.marks.includes(CLOSED)) return "PERIOD_CLOSED";
  const second = decision === "APPROVE" && digits > 4 && !row.marks.includes(SIGNED);
  return second ? "AWAITING_SECOND" : "COMMITTED";
}

export function preflightOf(
  rows: readonly DeckRow[],
  decision: DecisionChoice,
  policy: PolicyView,
  offline: boolean,
): PreflightView {
  const byAnswer = Map.groupBy(rows, (row) => foresee(row, decision));
  const groups = (Object.keys(ANSWERS) as Foreseen[]).flatMap((outcome) => {
    const members = byAnswer.get(outcome) ?? [];
    const { accepted, words, explanation } = ANSWERS[outcome];
    if (members.length === 0) return [];
    const ids = members.map(({ id }) => id);
    const label = `${members.length} ${words}`;
    return [{ outcome, accepted, label, explanation, ids, totals: totalsOf(members) }];
  });
  const refused = groups.filter(({ accepted }) => !accepted).reduce((sum, { ids }) => sum + ids.length, 0);
  const stale = offline ? "Offline: foreseen with the policy, limits and periods as last heard of" : null;
  return {
    policy_version: policy.version,
    as_of: policy.as_of,
    stale,
    groups,
    refused,
    warnings: warningsOf(rows),
    type_totals: typedOf(rows),
    effects: [],
    attestation: policy.attestation,
  };
}

function warningsOf(rows: readonly DeckRow[]): SignWarning[] {
  const entities = new Set(rows.map(({ entity }) => entity)).size;
  const warnings: SignWarning[] = [];
  if (entities > 1) {
    warnings.push({ kind: "MIXED_ENTITIES", message: `The batch is of ${entities} entities.` });
  }
  if (rows.length > 20) {
    const message = "Nothing of the batch was opened: a control that approves unseen exceptions is none.";
    warnings.push({ kind: "NOTHING_OPENED", message });
  }
  return warnings;
}

/** As if policy asked for it from a million on. */
function typedOf(rows: readonly DeckRow[]): string[] {
  return totalsOf(rows)
    .filter(({ net }) => (net.replace("-", "").split(".")[0] ?? "").length > 6)
    .map(({ currency }) => currency);
}

/** Refuses a control total that is not what the batch adds up to. */
export function checkTyped({ typed_totals }: SignRequest, rows: readonly DeckRow[]) {
  const totals = totalsOf(rows);
  for (const currency of typedOf(rows)) {
    const typed = typed_totals.find((each) => each.currency === currency)?.net;
    if (typed === totals.find((each) => each.currency === currency)?.net) continue;
    throw {
      code: "TOTAL_MISMATCH",
      message: `The net of ${currency} is not ${typed}: nothing was signed. Add it up again, or look for what does not belong into the batch.`,
    };
  }
}
