import { Text } from "../../components/Text";
import { useFrame } from "../shell/frame-store";
import styles from "./FilterRow.module.css";
import { useReview } from "./review-store";

interface FilterRowProps {
  ref: React.Ref<HTMLInputElement>;
  shown: number;
  total: number;
  warnings: readonly string[];
}

export function FilterRow({ ref, shown, total, warnings }: FilterRowProps) {
  const filter = useReview((state) => state.filter);
  const setFilter = useReview((state) => state.setFilter);
  const focusGrid = useReview((state) => state.focusGrid);
  const showShortcuts = useFrame((state) => state.showShortcuts);
  return (
    <div className={styles.row}>
      <span className={styles.box}>
        <input
          ref={ref}
          className={styles.input}
          value={filter}
          placeholder="Filter"
          aria-label="Filter by kind, entity, counterparty, currency, amount, match, tier or suggestion"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && filter !== "") setFilter("");
            else if (["Escape", "Enter", "ArrowDown"].includes(event.key)) focusGrid();
            else return;
            event.preventDefault();
          }}
          data-testid="filter"
        />
        <kbd>/</kbd>
      </span>
      <span className={styles.count} aria-live="polite" data-testid="filter-count">
        {shown} of {total}
      </span>
      <span className={styles.warning}>{warnings.length > 0 && <Text text={warnings.join(" ")} />}</span>
      <button type="button" className={styles.keys} onClick={() => showShortcuts(true)}>
        Keys <kbd>?</kbd>
      </button>
    </div>
  );
}
