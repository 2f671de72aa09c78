import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import type { useDeck } from "../../ipc/reads";
import styles from "./Grid.module.css";

interface EmptyDeckProps {
  deck: ReturnType<typeof useDeck>;
  session: SessionView;
  filter: string;
  onClearFilter: () => void;
}

/** Why there is no row, and what happens next. */
export function EmptyDeck({ deck, session, filter, onClearFilter }: EmptyDeckProps) {
  if (deck.error !== null) {
    return (
      <div className={styles.empty} role="alert">
        <b>The deck cannot be read</b>
        <span>{visibleText(deck.error.message)}</span>
        <Button onPress={() => void deck.refetch()}>Try again</Button>
      </div>
    );
  }
  if (deck.data === undefined) return <div className={styles.empty}>Reading the deck…</div>;
  if (deck.data.value.rows.length > 0) {
    return (
      <div className={styles.empty} data-testid="empty">
        <b>Nothing matches “{visibleText(filter)}”</b>
        <span>{deck.data.value.rows.length} exceptions are in the deck.</span>
        <Button onPress={onClearFilter}>Clear the filter</Button>
      </div>
    );
  }
  return (
    <div className={styles.empty} data-testid="empty">
      <b>Nothing to review</b>
      <span>
        {session.saturated
          ? "Leasing goes on once what you signed can no longer be undone."
          : session.link.online
            ? "New exceptions are leased as they arrive; there is nothing to press."
            : "You are offline. New exceptions are leased once the database can be reached."}
      </span>
    </div>
  );
}
