import type { DeckRow } from "../../generated/DeckRow";
import type { DetailView } from "../../generated/DetailView";
import type { EvidenceField } from "../../generated/EvidenceField";
import type { SuggestionView } from "../../generated/SuggestionView";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };

/** One line of the demonstration's exceptions. */
export interface Arrival {
  kind: string;
  idempotency_key: string;
  trace_id: string;
  source_hash: string;
  partition_key: string;
  group_key: string | null;
  match_decision: string;
  routing_tier: string;
  ledger_entity: string;
  counterparty: string;
  currency: string;
  variance_amount: string;
  prepared_by: string[];
  submitted_at: string;
  payload: Fields;
}

export async function fetchArrivals(): Promise<Arrival[]> {
  const answer = await fetch("/exceptions.jsonl");
  const lines = (await answer.text()).split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Arrival);
}

export function rowOf(arrival: Arrival, place: number, leaseEndsInMs: number): DeckRow {
  const amount = arrival.variance_amount;
  return {
    id: `x${place}`,
    kind: arrival.kind,
    entity: arrival.ledger_entity,
    counterparty: arrival.counterparty,
    amount,
    currency: arrival.currency,
    minor_units: amount.split(".")[1]?.length ?? 0,
    submitted_at: arrival.submitted_at,
    match_decision: arrival.match_decision,
    tier: arrival.routing_tier,
    suggestion: suggestionOf(arrival),
    partition: arrival.partition_key,
    seq: String(place + 1),
    group: arrival.group_key,
    version: 1,
    lease_ends_in_ms: leaseEndsInMs,
    note: null,
    marks: [],
  };
}

function suggestionOf({ variance_amount: amount, routing_tier: tier }: Arrival): SuggestionView {
  if (/^-?[0.]+$/.test(amount)) {
    return { code: "AUTO_RESOLVE", label: "Zero variance", reasons: ["The variance is zero after rounding"] };
  }
  const whole = amount.replace("-", "").split(".")[0] ?? "";
  if (whole.length > 5 && tier === "standard") {
    return { code: "ESCALATE", label: "Escalate", reasons: ["Over 50,000.00 in the standard tier"] };
  }
  if (whole.length < 3) {
    return {
      code: "AUTO_APPROVE",
      label: "In tolerance",
      reasons: ["Below the materiality of this entity"],
    };
  }
  return { code: "ROUTE_REVIEW", label: "Review", reasons: ["Above tolerance, below the limit"] };
}

export function detailOf(arrival: Arrival, row: DeckRow): DetailView {
  const [leftTitle, rightTitle] = TITLES[arrival.kind] ?? ["Left", "Right"];
  return {
    row,
    key: arrival.idempotency_key,
    content_hash: arrival.source_hash,
    trace_id: arrival.trace_id,
    prepared_by: arrival.prepared_by,
    left_title: leftTitle,
    right_title: rightTitle,
    evidence: evidenceOf(arrival),
    facts: Object.entries(arrival.payload)
      .filter(([, value]) => typeof value === "string" || typeof value === "number")
      .map(([label, value]) => ({ label: words(label), value: String(value) })),
    control: [
      ...(row.marks.some(({ kind }) => kind === "SIGNED")
        ? [{ label: "Signatures", value: "1 of 2 signed" }]
        : []),
      { label: "Business date", value: arrival.submitted_at.slice(0, 10) },
      { label: "Period", value: `${arrival.submitted_at.slice(0, 7)}, closing` },
      { label: "Policy", value: "version 7" },
    ],
    payload: JSON.stringify(arrival.payload, null, 2),
  };
}

const TITLES: Record<string, [string, string]> = {
  recon_break: ["Statement", "Ledger"],
  sales_claim: ["Claimed", "Agreement"],
  receipt: ["Claimed", "Read"],
};

function words(name: string): string {
  return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");
}

function field(
  label: string,
  left: Json | undefined,
  right: Json | undefined,
  numeric = false,
): EvidenceField {
  const text = (value: Json | undefined) => (value === null || value === undefined ? null : String(value));
  return { label, left: text(left), right: text(right), differs: text(left) !== text(right), numeric };
}

function evidenceOf({ kind, payload }: Arrival): EvidenceField[] {
  if (kind === "recon_break") {
    const statement = (payload.statement_line ?? {}) as Fields;
    const ledger = (payload.ledger_entry ?? {}) as Fields;
    return ["amount", "currency", "date", "reference", "counterparty"].map((name) =>
      field(words(name), statement[name], ledger[name], name === "amount"),
    );
  }
  if (kind === "sales_claim") return [field("Amount", payload.claimed_amount, payload.contract_amount, true)];
  return [field("Amount", payload.claimed_amount, payload.extracted_amount, true)];
}
