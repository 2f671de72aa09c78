import { groupBy } from "../../components/group-by";
import { formatAmount } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { BacklogGroup } from "../../generated/BacklogGroup";
import type { BacklogLine } from "../../generated/BacklogLine";
import type { BacklogTotal } from "../../generated/BacklogTotal";
import type { BacklogView } from "../../generated/BacklogView";
import { kindWord } from "../review/words";

type Shown = Pick<BacklogView, "groups" | "lines">;

/** An entity's tier: what it adds up to, and its lines. */
export interface ShownGroup extends BacklogGroup {
  key: string;
  lines: readonly BacklogLine[];
}

export type BacklogItem =
  | { key: string; group: ShownGroup; line: null }
  | { key: string; group: ShownGroup; line: BacklogLine };

export type SortColumn = "entity" | "tier" | "free" | "held" | "mine";
export interface Sort {
  column: SortColumn;
  descending: boolean;
}

export function lineKey({ entity, tier, kind, currency }: BacklogLine): string {
  return JSON.stringify([entity, tier, kind, currency]);
}

/** Names may hold any character: only a notation that escapes keeps two keys apart. */
export function groupKey({ entity, tier }: Pick<BacklogLine, "entity" | "tier">): string {
  return JSON.stringify([entity, tier]);
}

/**
 * The groups with a line in which every word of `filter` is found, each with all of its lines: what a row says it adds up to is
 * what choosing it chooses.
 */
export function shownGroups({ groups, lines }: Shown, filter: string): ShownGroup[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = ({ entity, tier, kind, currency }: BacklogLine) => {
    const text = [entity, tier, kindWord(kind), currency].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const byGroup = groupBy(lines, groupKey);
  return groups
    .map((group) => ({ ...group, key: groupKey(group), lines: byGroup.get(groupKey(group)) ?? [] }))
    .filter((group) => group.lines.some(found));
}

const TIERS = ["escalated", "priority", "standard"];

function tierRank(tier: string): number {
  const rank = TIERS.indexOf(tier);
  return rank === -1 ? TIERS.length : rank;
}

export function sortGroups(groups: readonly ShownGroup[], { column, descending }: Sort): ShownGroup[] {
  const names = (a: ShownGroup, b: ShownGroup) =>
    a.entity.localeCompare(b.entity) || tierRank(a.tier) - tierRank(b.tier);
  const by: Record<SortColumn, (a: ShownGroup, b: ShownGroup) => number> = {
    entity: names,
    tier: (a, b) => tierRank(a.tier) - tierRank(b.tier),
    free: (a, b) => a.free - b.free,
    held: (a, b) => a.held - b.held,
    mine: (a, b) => a.mine - b.mine,
  };
  const sign = descending ? -1 : 1;
  return [...groups].sort((a, b) => sign * by[column](a, b) || names(a, b));
}

/** What is on screen, in order: each group, and its lines while it is open. */
export function itemsOf(groups: readonly ShownGroup[], opened: ReadonlySet<string>): BacklogItem[] {
  return groups.flatMap((group): BacklogItem[] => [
    { key: group.key, group, line: null },
    ...(opened.has(group.key)
      ? group.lines.map((line): BacklogItem => ({ key: lineKey(line), group, line }))
      : []),
  ]);
}

/** Totals in words, one for each currency of which there is something. */
export function totalsText(
  totals: readonly BacklogTotal[],
  amountOf: (total: BacklogTotal) => string,
  countOf: (total: BacklogTotal) => number,
): string {
  const parts = totals
    .filter((total) => countOf(total) > 0)
    .map((total) => `${total.currency} ${formatAmount(amountOf(total), total.minor_units)}`);
  return visibleText(parts.join(" · "));
}
