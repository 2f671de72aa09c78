import { useMemo, useState } from "react";
import { usePreflight, useTotals } from "../../ipc/reads";
import type { Batch } from "../review/review-store";

const NOTHING: ReadonlySet<string> = new Set();

/** The list as it was when the dialog opened, without what was left out of it since, and what the workstation says of it. */
export function useFrozenList({ opening, ids: all, decision }: Batch) {
  const [leftOut, setLeftOut] = useState({ ids: NOTHING, change: 0 });
  const ids = useMemo(() => all.filter((id) => !leftOut.ids.has(id)), [all, leftOut]);
  const revision = leftOut.change === 0 ? `dialog ${opening}` : `dialog ${opening}.${leftOut.change}`;
  const totals = useTotals(revision, ids);
  const preflight = usePreflight(revision, ids, decision);
  // What an earlier list added up to is not what is signed here.
  const counted = totals.isPlaceholderData || ids.length === 0 ? undefined : totals.data;
  return {
    ids,
    leftOut: leftOut.ids,
    totals,
    preflight,
    counted,
    leaveOut: (some: Iterable<string>) =>
      setLeftOut((before) => ({ ids: new Set([...before.ids, ...some]), change: before.change + 1 })),
    putBack: () => setLeftOut((before) => ({ ids: NOTHING, change: before.change + 1 })),
  };
}
