import { useEffect, useMemo, useRef } from "react";
import type { DeckRow } from "../../generated/DeckRow";
import type { SessionView } from "../../generated/SessionView";
import { useDeck, useRereadWithPolicy, useTotals } from "../../ipc/reads";
import { Detail } from "../detail/Detail";
import { ImportDialog } from "../signing/ImportDialog";
import { SignDialog } from "../signing/SignDialog";
import { filterRows } from "../views/filters";
import { useViewActions } from "../views/use-view-actions";
import { ViewBar } from "../views/ViewBar";
import { ViewDialogs } from "../views/ViewDialogs";
import { useViews } from "../views/views-store";
import { Announcer } from "./Announcer";
import { BlockedDialog } from "./BlockedDialog";
import { EmptyDeck } from "./EmptyDeck";
import { FilterRow } from "./FilterRow";
import { Grid } from "./Grid";
import { HandOverDialog } from "./HandOverDialog";
import { useKeptReview } from "./kept-review";
import styles from "./ReviewScreen.module.css";
import { useReview } from "./review-store";
import { SelectionBar } from "./SelectionBar";
import { countHidden, retain } from "./selection";
import { oldestDays, refusalsOf } from "./selection-facts";
import { useLines } from "./use-lines";
import { useReviewActions } from "./use-review-actions";
import { Warnings } from "./Warnings";
import { whyNotSign } from "./words";

const NO_ROWS: readonly DeckRow[] = [];
const NO_IDS: readonly string[] = [];

export function ReviewScreen({ session }: { session: SessionView }) {
  useKeptReview();
  const deck = useDeck();
  useRereadWithPolicy(session.policy?.as_of ?? null);
  const rows = deck.data?.value.rows ?? NO_ROWS;
  const { selection, revision, batch, handOver, select, openDetail, focusGrid } = useReview();
  const { trait, quick, filters } = useViews((state) => state.setup);
  const filterInput = useRef<HTMLInputElement>(null);
  const detailPane = useRef<HTMLElement>(null);

  const filtered = useMemo(() => filterRows(rows, { trait, quick, filters }), [rows, trait, quick, filters]);
  const lines = useLines(filtered);
  const shown = useMemo(() => lines.sorted.map(({ id }) => id), [lines.sorted]);
  const shownIds = useMemo(() => new Set(shown), [shown]);
  const loaded = deck.data !== undefined;
  useEffect(() => {
    if (loaded) select((now) => retain(now, new Set(rows.map(({ id }) => id))));
  }, [loaded, rows, select]);

  const ids = useMemo(() => [...selection.selected], [selection.selected]);
  const selectedRows = useMemo(
    () => rows.filter(({ id }) => selection.selected.has(id)),
    [rows, selection.selected],
  );
  const refusals = useMemo(() => refusalsOf(selectedRows), [selectedRows]);
  const oldest = useMemo(() => oldestDays(selectedRows), [selectedRows]);
  const hidden = loaded ? countHidden(selection, shownIds) : 0;
  const folded = useMemo(() => {
    const drawn = new Set(lines.lineIds);
    return shown.filter((id) => selection.selected.has(id) && !drawn.has(id)).length;
  }, [shown, selection.selected, lines.lineIds]);
  const totals = useTotals(`selection ${revision}`, ids);
  const splitGroups = ids.length === 0 ? NO_IDS : (totals.data?.split_groups ?? NO_IDS);
  const blocked = whyNotSign(ids.length, hidden, totals.isPlaceholderData ? 0 : splitGroups.length);
  const keeps = whyNotSign(ids.length, hidden, 0);
  const cursorRow = rows.find(({ id }) => id === selection.cursor) ?? null;

  useViewActions(lines.groups);
  useReviewActions({
    rows,
    shown,
    lines,
    ids,
    hidden,
    blocked,
    keeps,
    refusals,
    splitGroups,
    toFilter: () => filterInput.current?.focus(),
    toDetail: () => {
      openDetail(true);
      // A closed pane cannot take the focus before it is drawn open.
      requestAnimationFrame(() => detailPane.current?.focus());
    },
  });

  return (
    <div className={styles.screen}>
      <FilterRow ref={filterInput} rows={rows} />
      <div className={styles.bars}>
        <Warnings warnings={session.warnings} />
        <ViewBar shown={shown.length} total={rows.length} />
      </div>
      <div className={styles.work}>
        <Grid
          lines={lines}
          rows={filtered}
          loaded={loaded}
          askedAtMs={deck.data?.askedAtMs ?? 0}
          empty={<EmptyDeck deck={deck} session={session} />}
        />
        <Detail ref={detailPane} row={cursorRow} />
      </div>
      <SelectionBar
        count={ids.length}
        shown={shown.length}
        total={rows.length}
        hidden={hidden}
        folded={folded}
        totals={ids.length === 0 ? null : (totals.data ?? null)}
        counting={totals.isFetching}
        problem={ids.length === 0 ? null : (totals.error?.message ?? null)}
        blocked={blocked}
        keeps={keeps}
        oldestDays={oldest}
        refusals={refusals}
        splitGroup={splitGroups.length > 0}
      />
      <Announcer
        selected={ids.length}
        shown={shown.length}
        total={rows.length}
        hidden={hidden}
        folded={folded}
      />
      {batch !== null && <SignDialog key={batch.opening} batch={batch} policy={session.policy} />}
      <BlockedDialog />
      <ImportDialog policy={session.policy} />
      {handOver !== null && <HandOverDialog key={handOver.opening} handOver={handOver} />}
      <ViewDialogs onClosed={focusGrid} />
    </div>
  );
}
