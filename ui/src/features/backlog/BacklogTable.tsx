import { useVirtualizer } from "@tanstack/react-virtual";
import { useImperativeHandle, useLayoutEffect, useMemo } from "react";
import { useRowHeight } from "../../components/appearance";
import { Button } from "../../components/Button";
import { useRovingList } from "../../components/roving-list";
import { visibleText } from "../../components/visible-text";
import type { BacklogView } from "../../generated/BacklogView";
import { BacklogHead } from "./BacklogHead";
import { BacklogRow } from "./BacklogRow";
import styles from "./BacklogTable.module.css";
import { useBacklogChoice } from "./backlog-store";
import { letsIn } from "./focus-draft";
import { itemsOf, lineKey, shownGroups, sortGroups } from "./lines";

const HEAD_HEIGHT_PX = 30;
const OVERSCAN = 12;
const NOTHING = { groups: [], lines: [] };

interface BacklogTableProps {
  ref: React.Ref<HTMLDivElement>;
  /** `null` until it is read. */
  view: BacklogView | null;
  failure: string | null;
  onRetry: () => void;
  onFilter: () => void;
}

/** Entities by tier; each opens to its kinds and currencies. Only what is on screen is drawn. */
export function BacklogTable({ ref, view, failure, onRetry, onFilter }: BacklogTableProps) {
  const { filter, sort, opened, chosen, draft, open, choose } = useBacklogChoice();
  const shown = useMemo(() => shownGroups(view ?? NOTHING, filter), [view, filter]);
  const items = useMemo(() => itemsOf(sortGroups(shown, sort), opened), [shown, sort, opened]);
  const keys = useMemo(() => items.map(({ key }) => key), [items]);
  const inside = useMemo(() => letsIn(draft), [draft]);
  const groupOf = (key: string) => items.find((item) => item.key === key)?.group.key ?? key;
  const unfold = (key: string) => open(groupOf(key), true);
  const fold = (key: string) => open(groupOf(key), false);
  const turn = (key: string) => open(groupOf(key), !opened.has(groupOf(key)));
  const { container, current } = useRovingList(
    keys,
    { Enter: turn, ArrowRight: unfold, ArrowLeft: fold, "/": onFilter },
    (place) => virtual.scrollToIndex(place),
  );
  useImperativeHandle(ref, () => container.current as HTMLDivElement, [container]);
  const rowHeight = useRowHeight();
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => container.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    paddingStart: HEAD_HEIGHT_PX,
    scrollPaddingStart: HEAD_HEIGHT_PX,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was measured is another row height's.
  useLayoutEffect(() => virtual.measure(), [rowHeight]);
  const drawn = virtual.getVirtualItems();
  const before = Math.max(0, (drawn[0]?.start ?? 0) - HEAD_HEIGHT_PX);
  const after = virtual.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  const empty = emptyWords(view, failure, filter);
  return (
    <div className={styles.frame} ref={container}>
      {items.length > 0 && (
        <div style={{ paddingTop: before, paddingBottom: after }}>
          <table className={styles.table} aria-label="Backlog" aria-rowcount={items.length + 1}>
            <BacklogHead />
            <tbody>
              {drawn.map(({ index, key }) => {
                const item = items[index];
                if (item === undefined) return null;
                const own = item.line === null ? item.group.lines : [item.line];
                const picked = own.filter((line) => chosen.has(lineKey(line))).length;
                return (
                  <BacklogRow
                    key={key}
                    place={index}
                    item={item}
                    open={opened.has(item.group.key)}
                    current={item.key === current}
                    chosen={picked === 0 ? "none" : picked === own.length ? "all" : "some"}
                    also={chosen.size > 0 && picked === 0 && own.some(inside)}
                    onChoose={(wanted) => choose(own, wanted, view?.lines ?? [])}
                    onOpen={(wanted) => open(item.group.key, wanted)}
                  />
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {items.length === 0 && (
        <div
          className={styles.empty}
          role={failure === null ? "status" : "alert"}
          data-testid="backlog-empty"
        >
          <p>{visibleText(empty)}</p>
          {failure !== null && <Button onPress={onRetry}>Try again</Button>}
        </div>
      )}
      {view !== null && view.more > 0 && (
        <p className={styles.more}>
          {view.more} more lines are not shown: they are beyond what one answer holds. Entities that come
          first by name are.
        </p>
      )}
    </div>
  );
}

function emptyWords(view: BacklogView | null, failure: string | null, filter: string): string {
  if (failure !== null) return `The backlog cannot be read: ${failure}`;
  if (view === null) return "Reading the backlog…";
  if (view.lines.length === 0) return "Nothing is pending: everything that has arrived is decided.";
  return `Nothing matches “${filter}”. Escape in the filter clears it.`;
}
