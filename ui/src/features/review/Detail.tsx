import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { formatAmount } from "../../components/money";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import type { DetailView } from "../../generated/DetailView";
import type { Fact } from "../../generated/Fact";
import { useDetail } from "../../ipc/reads";
import styles from "./Detail.module.css";
import { Evidence } from "./Evidence";
import { useReview } from "./review-store";
import { longKindWord } from "./words";

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
          {row.note !== null && <p className={styles.note}>{visibleText(row.note)}</p>}
          {row.marks.length > 0 && (
            <ul className={styles.marks} aria-label="What to know of it">
              {row.marks.map(({ kind, label, explanation }) => (
                <li key={kind} data-kind={kind}>
                  <b>{visibleText(label)}</b> <span>{visibleText(explanation)}</span>
                </li>
              ))}
            </ul>
          )}
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
          {view !== null && <Rest view={view} />}
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

function Rest({ view }: { view: DetailView }) {
  return (
    <>
      <Evidence view={view} />
      <Facts title="Control" facts={view.control} />
      <Facts title="Facts" facts={view.facts} />
      <section className={styles.card}>
        <h3>Prepared by</h3>
        <p>{view.prepared_by.map(visibleText).join(", ")}</p>
      </section>
      <dl className={styles.identity}>
        <Identity label="Key" value={view.key} />
        <Identity label="Content SHA-256" value={view.content_hash} />
        <Identity label="Trace" value={view.trace_id} />
        <Identity label="Partition" value={`${view.row.partition} · ${view.row.seq}`} />
      </dl>
      <details className={styles.payload}>
        <summary>Payload</summary>
        <pre>{visibleLines(view.payload)}</pre>
      </details>
    </>
  );
}

function Facts({ title, facts }: { title: string; facts: readonly Fact[] }) {
  if (facts.length === 0) return null;
  return (
    <section className={styles.card}>
      <h3>{title}</h3>
      <dl className={styles.facts}>
        {facts.map(({ label, value }) => (
          <div key={label}>
            <dt>{visibleText(label)}</dt>
            <dd>{visibleText(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Identity({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{visibleText(value)}</dd>
    </div>
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
