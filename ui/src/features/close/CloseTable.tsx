import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useMemo, useRef } from "react";
import { useRowHeight } from "../../components/appearance";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import type { CloseLine } from "../../generated/CloseLine";
import { capitalised } from "../review/words";
import styles from "./CloseTable.module.css";
import { type CloseColumn, orderLines, useCloseOrder } from "./close-lines";

const HEAD_HEIGHT_PX = 30;

const COLUMNS: readonly { name: string; column: CloseColumn; look: string | undefined }[] = [
  { name: "Entity", column: "entity", look: styles.entity },
  { name: "Tier", column: "tier", look: styles.tier },
  { name: "Left", column: "left", look: styles.left },
  { name: "Of these held", column: "held", look: styles.number },
  { name: "Signed today", column: "signed_today", look: styles.number },
  { name: "By me", column: "mine_today", look: styles.number },
];

/** What is left by entity and tier; only what is on screen is drawn. */
export function CloseTable({ lines }: { lines: readonly CloseLine[] }) {
  const { column, descending, filter, sortBy } = useCloseOrder();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(
    () => orderLines(lines, { column, descending, filter }),
    [lines, column, descending, filter],
  );
  const most = useMemo(() => lines.reduce((found, { left }) => Math.max(found, left), 1), [lines]);
  const rowHeight = useRowHeight();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    paddingStart: HEAD_HEIGHT_PX,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was measured is another row height's.
  useLayoutEffect(() => virtual.measure(), [rowHeight]);
  const drawn = virtual.getVirtualItems();
  const before = Math.max(0, (drawn[0]?.start ?? HEAD_HEIGHT_PX) - HEAD_HEIGHT_PX);
  const after = virtual.getTotalSize() - (drawn.at(-1)?.end ?? virtual.getTotalSize());
  return (
    <div className={styles.frame} ref={scroller}>
      <div style={{ paddingTop: before, paddingBottom: after }}>
        <table className={styles.table} aria-label="What is left" aria-rowcount={rows.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {COLUMNS.map(({ name, column: each, look }) => (
                <th
                  key={each}
                  scope="col"
                  className={look}
                  aria-sort={each === column ? (descending ? "descending" : "ascending") : undefined}
                >
                  <button type="button" className={styles.sort} onClick={() => sortBy(each)}>
                    {name}
                    <i aria-hidden="true">{each === column ? (descending ? "▾" : "▴") : ""}</i>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {drawn.map(({ index, key }) => {
              const line = rows[index];
              return line === undefined ? null : <Line key={key} line={line} place={index} most={most} />;
            })}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && (
        <p className={styles.none} role="status">
          {lines.length === 0
            ? "Nothing is left: every exception that has arrived is decided."
            : `Nothing matches “${visibleText(filter)}”.`}
        </p>
      )}
    </div>
  );
}

function Line({ line, place, most }: { line: CloseLine; place: number; most: number }) {
  return (
    <tr aria-rowindex={place + 2} data-testid={`close-${line.entity}-${line.tier}`}>
      <th scope="row" className={styles.entity}>
        <Text text={line.entity} />
      </th>
      <td className={styles.faint}>
        <Text text={capitalised(line.tier)} />
      </td>
      <td>
        <span className={styles.bar}>
          <span>{line.left}</span>
          <i aria-hidden="true" style={{ width: `${(100 * line.left) / most}%` }} />
        </span>
      </td>
      <td className={styles.number}>{line.held}</td>
      <td className={styles.number}>{line.signed_today}</td>
      <td className={styles.number}>{line.mine_today}</td>
    </tr>
  );
}
