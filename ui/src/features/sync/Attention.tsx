import { useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { useRovingList } from "../../components/roving-list";
import type { OutboxRow } from "../../generated/OutboxRow";
import styles from "./Attention.module.css";
import { AttentionRow } from "./AttentionRow";
import { PutAwayDialog } from "./PutAwayDialog";
import { useSync } from "./sync-store";
import { useAttention } from "./use-attention";
import { useSeen } from "./use-seen";

/** So many are drawn at a time. */
const PAGE = 100;

/** Conflicts, refusals and what was given up, each with the next safe action. */
export function Attention({ rows, reviewer }: { rows: readonly OutboxRow[]; reviewer: string | null }) {
  const [pages, setPages] = useState(1);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  // Frozen when it is asked for: what arrives behind the dialog is not put away.
  const [leaving, setLeaving] = useState<readonly OutboxRow[] | null>(null);
  const { seen, see } = useSync();
  const actions = useAttention(reviewer);
  const shown = rows.slice(0, pages * PAGE);
  const keys = useMemo(() => shown.map(({ key }) => key), [shown]);
  const byKey = useMemo(() => new Map(rows.map((row) => [row.key, row])), [rows]);
  const dead = rows.filter(({ state }) => state === "DEAD").map(({ key }) => key);
  const seenRefused = rows.filter(({ key, state }) => state === "REFUSED" && seen.has(key));

  const withRow = (act: (row: OutboxRow) => void) => (key: string) => {
    const row = byKey.get(key);
    if (row !== undefined) act(row);
  };
  const next = (row: OutboxRow) => {
    if (row.next_step === "REVIEW_AGAIN") void actions.reviewAgain(row);
    else if (row.next_step === "SEND_AGAIN") void actions.sendAgain([row.key]);
    else if (row.next_step === "ASK_SUPERVISOR") void actions.copy(row);
    else if (row.state === "REFUSED") void actions.putAway([row.key]);
  };
  const toggle = (key: string) => {
    const after = new Set(opened);
    if (!after.delete(key)) after.add(key);
    setOpened(after);
  };
  const { container, current } = useRovingList(keys, {
    p: withRow((row) => row.state === "REFUSED" && void actions.putAway([row.key])),
    s: withRow((row) => row.state === "DEAD" && void actions.sendAgain([row.key])),
    c: withRow((row) => void actions.copy(row)),
    h: toggle,
  });
  useSeen(container, keys.join("\n"));
  const heading = useRef<HTMLParagraphElement>(null);

  return (
    <div className={styles.screen}>
      <div className={styles.bar}>
        <p ref={heading} tabIndex={-1} className={styles.words}>
          {rows.length === 0 ? "" : "J K to move · Enter for the next step · C copy · H history"}
        </p>
        <Button
          isDisabled={dead.length === 0}
          onPress={() => void actions.sendAgain(dead)}
          data-testid="send-all-again"
        >
          Send {dead.length} given up again
        </Button>
        <Button
          isDisabled={seenRefused.length === 0}
          title="Refused ones that have been on your screen; what was given up is unsent and stays"
          onPress={() => setLeaving(seenRefused)}
          data-testid="put-seen-away"
        >
          Put {seenRefused.length} seen away…
        </Button>
      </div>
      <div className={styles.frame} ref={container} data-testid="attention">
        {rows.length === 0 ? (
          <p className={styles.none}>Nothing wants attention: every decision is accepted or on its way.</p>
        ) : (
          <table className={styles.table} aria-label="Decisions that want attention">
            <thead>
              <tr>
                <th scope="col">Exception</th>
                <th scope="col">Mine</th>
                <th scope="col">Theirs, or why it did not go through</th>
                <th scope="col">Next</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <AttentionRow
                  key={row.key}
                  row={row}
                  current={row.key === current}
                  open={opened.has(row.key)}
                  onNext={() => next(row)}
                  onPutAway={() => void actions.putAway([row.key])}
                  onSeen={() => see([row.key])}
                />
              ))}
            </tbody>
          </table>
        )}
        {shown.length < rows.length && (
          <p className={styles.more}>
            <Button onPress={() => setPages(pages + 1)}>
              Show {Math.min(PAGE, rows.length - shown.length)} more of {rows.length}
            </Button>
          </p>
        )}
      </div>
      {leaving !== null && (
        <PutAwayDialog
          rows={leaving}
          onClose={() => setLeaving(null)}
          onConfirm={() => {
            setLeaving(null);
            heading.current?.focus();
            void actions.putAway(leaving.map(({ key }) => key));
          }}
        />
      )}
    </div>
  );
}
