import type { DeckRow } from "../../generated/DeckRow";
import { perform } from "../actions/handlers";
import { useKeyOf, writtenKey } from "../actions/keymap";
import { ViewTabs } from "../views/ViewTabs";
import { useViews } from "../views/views-store";
import styles from "./FilterRow.module.css";
import { useReview } from "./review-store";

interface FilterRowProps {
  ref: React.Ref<HTMLInputElement>;
  rows: readonly DeckRow[];
}

/** The quick filter, the views, and the way to every action. */
export function FilterRow({ ref, rows }: FilterRowProps) {
  const quick = useViews((state) => state.setup.quick);
  const change = useViews((state) => state.change);
  const focusGrid = useReview((state) => state.focusGrid);
  const keyOf = useKeyOf();
  return (
    <div className={styles.row}>
      <span className={styles.box}>
        <input
          ref={ref}
          className={styles.input}
          value={quick}
          placeholder="Filter"
          aria-label="Filter by kind, entity, counterparty, currency, amount, match, tier, suggestion, state or report"
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          onChange={(event) => change({ quick: event.target.value })}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Escape" && quick !== "") change({ quick: "" });
            else if (["Escape", "Enter", "ArrowDown"].includes(event.key)) focusGrid();
            else return;
            event.preventDefault();
          }}
          data-testid="filter"
        />
        <kbd>{writtenKey(keyOf("filter"))}</kbd>
      </span>
      <ViewTabs rows={rows} />
      <button
        type="button"
        className={styles.keys}
        aria-label={`${writtenKey(keyOf("palette"))}: every action`}
        onClick={() => perform("palette")}
        data-testid="open-palette"
      >
        <kbd>{writtenKey(keyOf("palette"))}</kbd>
      </button>
      <button
        type="button"
        className={styles.keys}
        aria-label={`${writtenKey(keyOf("shortcuts"))}: keys`}
        onClick={() => perform("shortcuts")}
      >
        <kbd>{writtenKey(keyOf("shortcuts"))}</kbd>
      </button>
    </div>
  );
}
