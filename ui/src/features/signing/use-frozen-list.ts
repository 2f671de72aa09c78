import { useMemo, useState } from "react";
import { useNumberFormat } from "../../components/number-format";
import { usePreflight, useTotals } from "../../ipc/reads";
import type { Batch } from "../review/review-store";
import { readFigures, type TypedFigures } from "./figures";

const NOTHING: ReadonlySet<string> = new Set();

/** The list as it was when the dialog opened, without what was left out of it since, and what the workstation says of it. */
export function useFrozenList({ opening, ids: all, decision }: Batch) {
  const format = useNumberFormat();
  const [corrected, setCorrected] = useState<TypedFigures>(new Map());
  const [leftOut, setLeftOut] = useState({ ids: NOTHING, change: 0 });
  const ids = useMemo(() => all.filter((id) => !leftOut.ids.has(id)), [all, leftOut]);
  const revision = leftOut.change === 0 ? `dialog ${opening}` : `dialog ${opening}.${leftOut.change}`;
  const { figures, unread } = useMemo(() => readFigures(corrected, ids, format), [corrected, ids, format]);
  const totals = useTotals(revision, ids);
  const preflight = usePreflight(revision, ids, decision, figures);
  // What an earlier list added up to is not what is signed here.
  const counted = totals.isPlaceholderData || ids.length === 0 ? undefined : totals.data;
  return {
    ids,
    leftOut: leftOut.ids,
    corrected,
    setCorrected,
    figures,
    unread,
    totals,
    preflight,
    counted,
    leaveOut: (some: Iterable<string>) =>
      setLeftOut((before) => ({ ids: new Set([...before.ids, ...some]), change: before.change + 1 })),
    putBack: () => setLeftOut((before) => ({ ids: NOTHING, change: before.change + 1 })),
  };
}
