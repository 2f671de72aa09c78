import { groupBy } from "../../components/group-by";
import type { BacklogGroup } from "../../generated/BacklogGroup";
import type { BacklogLine } from "../../generated/BacklogLine";
import type { BacklogTotal } from "../../generated/BacklogTotal";
import type { BacklogView } from "../../generated/BacklogView";
import type { CaptureDay } from "../../generated/CaptureDay";
import type { ClosePeriod } from "../../generated/ClosePeriod";
import type { CloseView } from "../../generated/CloseView";
import type { DeckRow } from "../../generated/DeckRow";
import type { Focus } from "../../generated/Focus";
import type { HistoryView } from "../../generated/HistoryView";
import type { Arrival } from "./arrivals";
import type { Scenario } from "./scenario";
import { totalsOf } from "./sums";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const PERIOD: ClosePeriod = {
  name: "2026-10",
  state: "closing",
  closes_at: new Date(Date.now() + 2 * DAY_MS + 4 * HOUR_MS).toISOString(),
};

export function focusLabel(focus: Focus): string {
  const { entities, kinds, tiers, counterparties, currencies } = focus;
  return [...entities, ...kinds, ...tiers, ...counterparties, ...currencies].join(", ") || "As asked";
}

export function outsideOf(focus: Focus | null, rows: readonly DeckRow[]): DeckRow[] {
  if (focus === null) return [];
  const out = (wanted: readonly string[], found: string) => wanted.length > 0 && !wanted.includes(found);
  return rows.filter(
    (row) =>
      out(focus.entities, row.entity) ||
      out(focus.kinds, row.kind) ||
      out(focus.tiers, row.tier) ||
      out(focus.counterparties, row.counterparty) ||
      out(focus.currencies, row.currency),
  );
}

function staleness(offline: boolean) {
  const as_of = new Date(Date.now() - (offline ? 1_260_000 : 2_000)).toISOString();
  return { as_of, stale: offline ? "Offline: as it was last heard of" : null };
}

function absolute({
  variance_amount: amount,
  currency,
}: Arrival): Pick<DeckRow, "amount" | "currency" | "minor_units"> {
  return { amount: amount.replace("-", ""), currency, minor_units: amount.split(".")[1]?.length ?? 0 };
}

/** What is pending: every arrival, and as many more entities as it takes for `lines` of them. */
function pending(all: readonly Arrival[], lines: number): Arrival[] {
  const more = Array.from({ length: lines }, (_, place) => {
    const like = all[(place * 7) % Math.max(1, all.length)];
    return like === undefined ? [] : [{ ...like, ledger_entity: `${like.ledger_entity}-${place}` }];
  });
  return [...all, ...more.flat()];
}

function byName([a]: Arrival[], [b]: Arrival[]): number {
  const name = (each: Arrival | undefined) =>
    JSON.stringify([each?.ledger_entity, each?.kind, each?.routing_tier]);
  return name(a) < name(b) ? -1 : 1;
}

export function backlogOf(
  arrived: readonly Arrival[],
  rows: readonly DeckRow[],
  scenario: Scenario,
): BacklogView {
  const { deck, offline } = scenario;
  // An empty deck goes with an empty backlog.
  const all = deck === 0 ? [] : pending(arrived, scenario.lines);
  const lines = Map.groupBy(all, (each) =>
    [each.ledger_entity, each.kind, each.routing_tier, each.currency].join("\n"),
  );
  const told = [...lines.values()].sort(byName).map((arrivals) => {
    const [{ ledger_entity: entity, kind, routing_tier: tier, currency }] = arrivals as [Arrival];
    const [total] = totalsOf(arrivals.map((each) => absolute(each) as DeckRow));
    const mine = rows.filter(
      (row) => row.entity === entity && row.kind === kind && row.tier === tier && row.currency === currency,
    ).length;
    const held = Math.min(arrivals.length, mine);
    return {
      entity,
      kind,
      tier,
      currency,
      minor_units: total?.minor_units ?? 2,
      free: arrivals.length - held,
      free_amount: total?.net ?? "0",
      held,
      held_amount: "0",
      mine: held,
    };
  });
  return { ...staleness(offline), more: 0, lines: told, ...countsOf(told), groups: groupsOf(told) };
}

function countsOf(lines: readonly BacklogLine[]): Pick<BacklogGroup, "free" | "held" | "mine"> {
  const count = (of: "free" | "held" | "mine") => lines.reduce((sum, line) => sum + line[of], 0);
  return { free: count("free"), held: count("held"), mine: count("mine") };
}

/** What the real workstation adds up in Rust. */
export function groupsOf(lines: readonly BacklogLine[]): BacklogGroup[] {
  const groups = groupBy(lines, ({ entity, tier }) => JSON.stringify([entity, tier]));
  return [...groups.values()].map((members) => {
    const [{ entity, tier }] = members as [BacklogLine];
    return { entity, tier, ...countsOf(members), totals: groupTotals(members) };
  });
}

function groupTotals(lines: readonly BacklogLine[]): BacklogTotal[] {
  return [...groupBy(lines, ({ currency }) => currency).values()].map((members) => {
    const [{ currency, minor_units }] = members as [BacklogLine];
    const sum = (of: "free_amount" | "held_amount") =>
      totalsOf(members.map((line) => ({ amount: line[of], currency, minor_units }) as DeckRow))[0]?.net ??
      "0";
    const { free, held } = countsOf(members);
    return {
      currency,
      minor_units,
      free,
      free_amount: sum("free_amount"),
      held,
      held_amount: sum("held_amount"),
    };
  });
}

export function closeOf(
  arrived: readonly Arrival[],
  rows: readonly DeckRow[],
  scenario: Scenario,
): CloseView {
  const { deck, offline } = scenario;
  if (deck === 0) return nothingLeft(offline);
  const all = pending(arrived, scenario.lines);
  const lines = Map.groupBy(all, (each) => `${each.ledger_entity}\n${each.routing_tier}`);
  const now = Date.now();
  const burn_down = Array.from({ length: 72 }, (_, hour) => {
    const working = hour % 24 >= 8 && hour % 24 < 18;
    return {
      at: new Date(now - (71 - hour) * HOUR_MS).toISOString(),
      left: Math.max(0, Math.round(all.length * 1.6 - hour * all.length * 0.009)),
      arrived: hour % 7 === 0 ? 12 : 2,
      decided: working ? 25 : 1,
    };
  });
  return {
    ...staleness(offline),
    period: PERIOD,
    left: all.length,
    signed_today: 412,
    mine_today: 96,
    lines: [...lines.values()].sort(byName).map((arrivals, place) => {
      const [{ ledger_entity: entity, routing_tier: tier }] = arrivals as [Arrival];
      const mine = rows.filter((row) => row.entity === entity && row.tier === tier).length;
      return {
        entity,
        tier,
        left: arrivals.length,
        held: mine,
        signed_today: (place * 7) % 19,
        mine_today: (place * 3) % 5,
      };
    }),
    burn_down,
    projection: {
      per_hour: "13.4",
      done_at: new Date(now + 40 * HOUR_MS).toISOString(),
      in_time: true,
      words: "At 13.4 an hour everything is decided 12 hours before the deadline.",
    },
    capture: captureOf(),
  };
}

function nothingLeft(offline: boolean): CloseView {
  return {
    ...staleness(offline),
    period: null,
    left: 0,
    signed_today: 0,
    mine_today: 0,
    lines: [],
    burn_down: [],
    projection: null,
    capture: [],
  };
}

const SHARES: readonly (readonly [receipts: number, drifting: number, share: string])[] = [
  [47, 7, "14.9"],
  [52, 4, "7.7"],
  [39, 3, "7.7"],
  [61, 5, "8.2"],
  [44, 5, "11.4"],
  [58, 2, "3.4"],
  [50, 5, "10.0"],
  [36, 1, "2.8"],
];

function captureOf(): CaptureDay[] {
  return SHARES.map(([receipts, drifting, share], place) => ({
    day: new Date(Date.now() - place * DAY_MS).toISOString().slice(0, 10),
    receipts,
    drifting,
    share,
    alert: place === 0 || place === 4,
  }));
}

export function historyOf(row: DeckRow): HistoryView {
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
  const event = (hours: number, name: string, words: string, actor: string | null) => ({
    at: ago(hours),
    event: name,
    words,
    actor,
    facts: [],
  });
  return {
    as_of: ago(0),
    exception: [
      event(70, "ARRIVED", "Arrived", "matching-engine"),
      event(1, "LEASED", "Leased to you", "reviewer-12"),
    ],
    partition: [event(1, "LEASED", `Partition ${row.partition} leased`, "reviewer-12")],
    counterparty: [event(600, "SIGNED", "Approved 12.00 USD", "reviewer-03")],
    approved: 2,
    rejected: 0,
    pending: 3,
  };
}
