import { useEffect, useMemo, useRef } from "react";
import { say } from "../../components/toast-store";
import type { DeckRow } from "../../generated/DeckRow";
import type { SessionView } from "../../generated/SessionView";
import { useDeck, useRereadWithPolicy, useTotals } from "../../ipc/reads";
import { useFrame } from "../shell/frame-store";
import { Detail } from "./Detail";
import { EmptyDeck } from "./EmptyDeck";
import { FilterRow } from "./FilterRow";
import { Grid } from "./Grid";
import { HandOverDialog } from "./HandOverDialog";
import type { GridCommand } from "./keys";
import styles from "./ReviewScreen.module.css";
import { useReview } from "./review-store";
import { SelectionBar } from "./SelectionBar";
import { SignDialog } from "./SignDialog";
import { add, countHidden, retain } from "./selection";
import { useDeckActions } from "./use-deck-actions";
import { filterRows, whyNotSign } from "./words";

const NO_ROWS: readonly DeckRow[] = [];

export function ReviewScreen({ session }: { session: SessionView }) {
  const deck = useDeck();
  useRereadWithPolicy(session.policy?.as_of ?? null);
  const rows = deck.data?.value.rows ?? NO_ROWS;
  const { filter, selection, revision, batch, handOver, select, setFilter, open, openHandOver, openDetail } =
    useReview();
  const filterInput = useRef<HTMLInputElement>(null);
  const detailPane = useRef<HTMLElement>(null);
  const actions = useDeckActions();

  const shown = useMemo(() => filterRows(rows, filter), [rows, filter]);
  const shownIds = useMemo(() => new Set(shown.map(({ id }) => id)), [shown]);
  const loaded = deck.data !== undefined;
  useEffect(() => {
    if (loaded) select((now) => retain(now, new Set(rows.map(({ id }) => id))));
  }, [loaded, rows, select]);

  const ids = useMemo(() => [...selection.selected], [selection.selected]);
  const hidden = countHidden(selection, shownIds);
  const totals = useTotals(`selection ${revision}`, ids);
  const splitGroups = ids.length === 0 ? [] : (totals.data?.split_groups ?? []);
  const blocked = whyNotSign(ids.length, hidden, totals.isPlaceholderData ? 0 : splitGroups.length);
  const cursorRow = rows.find(({ id }) => id === selection.cursor) ?? null;

  const selectGroups = () => {
    const split = new Set(splitGroups);
    const groups = new Set(rows.filter(({ id }) => split.has(id)).map(({ group }) => group));
    select((now) =>
      add(
        now,
        rows.filter(({ group }) => group !== null && groups.has(group)).map(({ id }) => id),
      ),
    );
  };

  const onCommand = (command: GridCommand) => {
    if (command.kind === "approve" || command.kind === "reject") {
      if (blocked !== null) say(blocked);
      else open(command.kind === "approve" ? "APPROVE" : "REJECT", ids);
    } else if (command.kind === "release") {
      const why = whyNotSign(ids.length, hidden, 0);
      if (why !== null) say(why);
      else void actions.release(ids);
    } else if (command.kind === "hand-over") {
      const why = whyNotSign(ids.length, hidden, 0);
      if (why !== null) say(why);
      else openHandOver(ids);
    } else if (command.kind === "undo") void actions.undo();
    else if (command.kind === "filter") filterInput.current?.focus();
    else if (command.kind === "shortcuts") useFrame.getState().showShortcuts(true);
    else if (command.kind === "detail") {
      openDetail(true);
      // A closed pane cannot take the focus before it is drawn open.
      requestAnimationFrame(() => detailPane.current?.focus());
    }
  };

  return (
    <div className={styles.screen}>
      <FilterRow ref={filterInput} shown={shown.length} total={rows.length} warnings={session.warnings} />
      <div className={styles.work}>
        <Grid
          rows={shown}
          askedAtMs={deck.data?.askedAtMs ?? 0}
          onCommand={onCommand}
          empty={
            <EmptyDeck deck={deck} session={session} filter={filter} onClearFilter={() => setFilter("")} />
          }
        />
        <Detail ref={detailPane} row={cursorRow} />
      </div>
      <SelectionBar
        count={ids.length}
        shown={shown.length}
        total={rows.length}
        hidden={hidden}
        totals={ids.length === 0 ? null : (totals.data ?? null)}
        counting={totals.isFetching}
        problem={ids.length === 0 ? null : (totals.error?.message ?? null)}
        blocked={blocked}
        canRelease={ids.length > 0 && hidden === 0}
        onCommand={onCommand}
        onDropHidden={() => select((now) => retain(now, shownIds))}
        splitGroup={splitGroups.length > 0}
        onSelectGroups={selectGroups}
      />
      {batch !== null && <SignDialog key={batch.opening} batch={batch} policy={session.policy} />}
      {handOver !== null && <HandOverDialog key={handOver.opening} handOver={handOver} />}
    </div>
  );
}
