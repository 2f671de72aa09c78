import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { formatAmount } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import { useDetail } from "../../ipc/reads";
import { useReview } from "../review/review-store";
import { longKindWord } from "../review/words";
import styles from "./Detail.module.css";
import { ChangedSection, Sections } from "./Sections";
import { State } from "./State";

/** Rows that the cursor only passes are not worth a read. */
const SETTLE_MS = 90;

interface DetailProps {
  ref: React.Ref<HTMLElement>;
  row: DeckRow | null;
}

/** Everything about the row at the cursor. What the deck knows is there at once; the evidence follows. */
export function Detail({ ref, row }: DetailProps) {
  const open = useReview((state) => state.detailOpen);
  const openDetail = useReview((state) => state.openDetail);
  const focusGrid = useReview((state) => state.focusGrid);
  const settled = useSettled(row?.id ?? null);
  const detail = useDetail(settled);
  const view = detail.data !== undefined && detail.data.row.id === row?.id ? detail.data : null;
  const leave = () => {
    openDetail(false);
    focusGrid();
  };
  return (
    <aside
      ref={ref}
      className={styles.pane}
      data-open={open}
      data-testid="detail"
      aria-label="Detail"
      tabIndex={-1}
      onKeyDown={(event) => {
        const leaves =
          event.key === "Escape" || (event.key === "Enter" && event.target === event.currentTarget);
        if (!leaves) return;
        event.preventDefault();
        leave();
      }}
    >
      <div className={styles.close}>
        <Button look="quiet" onPress={leave}>
          Close
        </Button>
      </div>
      {row === null ? (
        <p className={styles.none}>The row at the cursor is shown here.</p>
      ) : (
        <>
          <h2 className={styles.headline}>{visibleText(row.counterparty)}</h2>
          <p className={styles.sub}>
            {visibleText(row.entity)} · {visibleText(longKindWord(row.kind))} · seen as version {row.version}
          </p>
          <State row={row} />
          {view !== null && <ChangedSection view={view} />}
          <section className={styles.card}>
            <h3>Variance</h3>
            <p className={styles.big}>
              {visibleText(formatAmount(row.amount, row.minor_units))} {visibleText(row.currency)}
            </p>
            <p className={styles.suggestion}>Suggestion: {visibleText(row.suggestion.label)}</p>
            <ul className={styles.why}>
              {row.suggestion.reasons.map((reason) => (
                <li key={reason}>{visibleText(reason)}</li>
              ))}
            </ul>
          </section>
          {view !== null && <Sections view={view} />}
          {view === null && detail.error === null && (
            <p className={styles.none} role="status">
              Reading…
            </p>
          )}
          {detail.error !== null && settled === row.id && (
            <p className={styles.note} role="alert">
              {visibleText(detail.error.message)}
            </p>
          )}
        </>
      )}
    </aside>
  );
}

function useSettled(id: string | null): string | null {
  const [settled, setSettled] = useState(id);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(id), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return settled;
}
