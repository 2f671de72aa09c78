import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { Amount } from "./Amount";
import styles from "./AmountList.module.css";
import { Text } from "./Text";
import { visibleText } from "./visible-text";

const LINE_PX = 26;

export interface AmountLine {
  id: string;
  counterparty: string;
  entity: string;
  amount: string;
  currency: string;
  minorUnits: number;
  /** Why it is in this list, where that is not the same for all of it. */
  note: string | null;
}

interface AmountListProps {
  label: string;
  lines: readonly AmountLine[];
  id?: string;
  "data-testid"?: string;
}

/** Exceptions with their amounts: thousands of them, of which only what is in sight is drawn. */
export function AmountList({ label, lines, ...rest }: AmountListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 6,
  });
  const noted = lines.some(({ note }) => note !== null);
  return (
    // A region that scrolls has to be in the tab order: there is nothing else in it that could take the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section ref={scroller} className={styles.list} aria-label={label} tabIndex={0} {...rest}>
      {/* biome-ignore lint/a11y/useSemanticElements: lines that are out of sight are not drawn, so that each says its place */}
      <div role="list" className={styles.all} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (line === undefined) return null;
          return (
            // biome-ignore lint/a11y/useSemanticElements: as above
            <div
              key={line.id}
              role="listitem"
              aria-setsize={lines.length}
              aria-posinset={item.index + 1}
              className={styles.line}
              data-noted={noted}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <Text text={line.counterparty} />
              <span className={styles.quiet}>
                <Text text={line.entity} />
              </span>
              <span className={styles.amount}>
                <Amount amount={line.amount} minorUnits={line.minorUnits} />
              </span>
              <span className={`${styles.quiet} ${styles.currency}`}>{visibleText(line.currency)}</span>
              {noted && (
                <span className={styles.quiet}>
                  <Text text={line.note ?? ""} />
                </span>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}
