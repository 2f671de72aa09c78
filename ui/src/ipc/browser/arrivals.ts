import type { Aging } from "../../generated/Aging";
import type { CalculationLine } from "../../generated/CalculationLine";
import type { ContentChange } from "../../generated/ContentChange";
import type { DeckRow } from "../../generated/DeckRow";
import type { DetailView } from "../../generated/DetailView";
import type { EvidenceField } from "../../generated/EvidenceField";
import type { SuggestionView } from "../../generated/SuggestionView";
import type { Trait } from "../../generated/Trait";

import { effectsOf } from "./effects";
import { scanOf } from "./scans";

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
    ...datesOf(arrival),
    traits: traitsOf(arrival),
    held_behind: null,
    state: { label: "", explanation: "", tone: "CALM" },
  };
}

const DAY_MS = 86_400_000;
const DUE_DAYS: Record<string, number> = { standard: 30, priority: 10, escalated: 3 };

function datesOf({ submitted_at, routing_tier }: Arrival) {
  const submitted = Date.parse(submitted_at);
  const age_days = Math.max(0, Math.floor((Date.now() - submitted) / DAY_MS));
  const due = submitted + (DUE_DAYS[routing_tier] ?? 30) * DAY_MS;
  const aging: Aging = age_days <= 30 ? "0-30" : age_days <= 60 ? "31-60" : age_days <= 90 ? "61-90" : "90+";
  const due_on = new Date(due).toISOString().slice(0, 10);
  return { age_days, aging, due_on, overdue: due < Date.now() };
}

function traitsOf({ variance_amount: amount }: Arrival): Trait[] {
  const whole = amount.replace("-", "").split(".")[0] ?? "";
  if (/^-?0+(\.0+)?$/.test(amount)) return ["ZERO_VARIANCE"];
  if (whole.length < 4) return ["BELOW_MATERIALITY"];
  return whole.length > 5 ? ["LARGE", "NEEDS_SECOND"] : [];
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
      ...effectsOf([row], new Map([[row.id, arrival]])).map(({ words }) => ({
        label: "Approving it",
        value: words,
      })),
      ...(row.marks.some(({ kind }) => kind === "SIGNED")
        ? [{ label: "Signatures", value: "1 of 2 signed" }]
        : []),
      { label: "Business date", value: arrival.submitted_at.slice(0, 10) },
      { label: "Period", value: `${arrival.submitted_at.slice(0, 7)}, closing` },
      { label: "Policy", value: "version 7" },
    ],
    payload: JSON.stringify(arrival.payload, null, 2),
    previous_version: row.note === null ? null : 1,
    changes: row.note === null ? [] : changesOf(arrival),
    calculation: calculationOf(arrival),
    scan: scanOf(arrival),
    text: textOf(arrival, row),
  };
}

function changesOf({ kind, payload, variance_amount }: Arrival): ContentChange[] {
  const ledger = (payload.ledger_entry ?? {}) as Fields;
  const amount = String(kind === "recon_break" ? (ledger.amount ?? variance_amount) : variance_amount);
  return [
    { path: "variance_amount", before: "820.00", after: variance_amount },
    { path: "payload.ledger_entry.amount", before: "3,204.00", after: amount },
    { path: "payload.ledger_entry.memo", before: null, after: "corrected upstream" },
  ];
}

function calculationOf({ kind, payload, variance_amount }: Arrival): CalculationLine[] {
  if (kind !== "sales_claim") return [];
  const text = (name: string) => String(payload[name] ?? "");
  return [
    {
      label: `Agreement, version ${text("agreement_version")}`,
      working: `${text("qualifying_units")} × ${text("tier_rate")}`,
      result: text("contract_amount"),
    },
    {
      label: "Variance",
      working: `${text("claimed_amount")} − ${text("contract_amount")}`,
      result: variance_amount,
    },
  ];
}

function textOf(arrival: Arrival, row: DeckRow): string {
  const evidence = evidenceOf(arrival).map(
    ({ label, left, right, differs }) =>
      `${differs ? "≠" : "="} ${label}: ${left ?? "none"} | ${right ?? "none"}`,
  );
  return [
    `${arrival.counterparty}, ${arrival.ledger_entity}`,
    `Variance ${arrival.variance_amount} ${arrival.currency}`,
    `Suggestion: ${row.suggestion.label}`,
    ...evidence,
    `Key ${arrival.idempotency_key}`,
  ].join("\n");
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
