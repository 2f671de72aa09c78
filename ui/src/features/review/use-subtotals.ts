import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import { useIpc } from "../../ipc/ipc";
import type { Group } from "../views/grouping";

const NONE: ReadonlyMap<string, readonly CurrencyTotal[]> = new Map();
const NO_GROUPS: readonly Group[] = [];

/** Names a list of groups: the list itself is too long for a key. */
const names = new WeakMap<readonly Group[], number>();
let lastName = 0;

function nameOf(groups: readonly Group[]): number {
  let name = names.get(groups);
  if (name === undefined) {
    lastName += 1;
    name = lastName;
    names.set(groups, name);
  }
  return name;
}

/** What each group adds up to, by its key. The workstation sums; until it has answered anew, its last answer stands. */
export function useSubtotals(groups: readonly Group[] | null): ReadonlyMap<string, readonly CurrencyTotal[]> {
  const ipc = useIpc();
  const asked = groups ?? NO_GROUPS;
  const { data } = useQuery({
    queryKey: ["subtotals", nameOf(asked)],
    queryFn: async () => {
      const sums = await ipc.subtotals(asked.map(({ ids }) => ids));
      return new Map(asked.map(({ key }, place) => [key, sums[place] ?? []]));
    },
    enabled: asked.length > 0,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    gcTime: 10_000,
  });
  return groups === null ? NONE : (data ?? NONE);
}
