import { Button } from "../../components/Button";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import type { useDeck } from "../../ipc/reads";
import { perform } from "../actions/handlers";
import { anyFilter } from "../views/filters";
import { ALL } from "../views/view";
import { useViews, viewOf } from "../views/views-store";
import styles from "./Grid.module.css";

interface EmptyDeckProps {
  deck: ReturnType<typeof useDeck>;
  session: SessionView;
}

/** Why there is no row, and what happens next. */
export function EmptyDeck({ deck, session }: EmptyDeckProps) {
  if (deck.error !== null && deck.data === undefined) {
    return (
      <div className={styles.empty} role="alert">
        <b>The deck cannot be read</b>
        <span>{visibleText(deck.error.message)}</span>
        <Button onPress={() => void deck.refetch()}>Try again</Button>
      </div>
    );
  }
  if (deck.data === undefined) return <Loading />;
  const count = deck.data.value.rows.length;
  return count > 0 ? <NothingShown count={count} /> : <NothingLeased session={session} />;
}

/** The shape of what comes, so that nothing jumps when it is there. */
function Loading() {
  return (
    <div className={styles.loading} role="status" data-testid="loading">
      <span>Reading the deck…</span>
      {Array.from({ length: 12 }, (_, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same, and stay
        <i key={place} aria-hidden="true" />
      ))}
    </div>
  );
}

function NothingShown({ count }: { count: number }) {
  const view = useViews(viewOf);
  const setup = useViews((state) => state.setup);
  const open = useViews((state) => state.open);
  const ownFilter = setup.quick.trim() !== "" || Object.keys(setup.filters).length > 0;
  return (
    <div className={styles.empty} data-testid="empty">
      <b>
        {setup.quick.trim() === ""
          ? `Nothing is in “${visibleText(view.name)}”`
          : `Nothing matches “${visibleText(setup.quick)}”`}
      </b>
      <span>{counted(count, "exception")} in the deck.</span>
      <span className={styles.emptyActions}>
        {ownFilter && anyFilter(setup) && (
          <Button onPress={() => perform("clear-filters")}>Clear every filter</Button>
        )}
        {view.id !== ALL.id && <Button onPress={() => open(ALL.id)}>Show all</Button>}
      </span>
    </div>
  );
}

function NothingLeased({ session }: { session: SessionView }) {
  return (
    <div className={styles.empty} data-testid="empty">
      <b>Nothing to review</b>
      <span>{nextWords(session)}</span>
      {session.focus !== null && <Button onPress={() => perform("go-backlog")}>Choose another focus</Button>}
    </div>
  );
}

function nextWords({ saturated, link, focus }: SessionView): string {
  if (saturated) return "Leasing goes on once what you signed can no longer be undone.";
  if (!link.online) return "You are offline. New exceptions are leased once the database can be reached.";
  if (focus !== null) return `The focus is ${visibleText(focus)}, and nothing else of it is free.`;
  return "New exceptions are leased as they arrive; there is nothing to press.";
}
