import { CopyButton } from "../../components/CopyButton";
import { counted as countWords } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { SelectionTotals } from "../../generated/SelectionTotals";
import styles from "./SignDialog.module.css";
import { TotalsTable } from "./TotalsTable";

const HASH_SHOWN = 16;

interface FrozenListProps {
  /** How many were in the list when it was frozen, without what was left out. */
  asked: number;
  /** `null` while they are counted. */
  totals: SelectionTotals | null;
}

/** The list that is signed: how many, what they add up to, and the hash total that binds it. */
export function FrozenList({ asked, totals }: FrozenListProps) {
  const gone = totals?.missing.length ?? 0;
  return (
    <section className={styles.frozen} aria-label="The frozen list">
      <TotalsTable totals={totals?.totals ?? []} />
      <p className={styles.hash}>
        <span>{totals === null ? "Counting…" : `${countWords(totals.count, "exception")}, frozen`}</span>
        {totals !== null && (
          <>
            <span>
              · hash total{" "}
              <code title={visibleText(totals.hash_total)} data-testid="hash-total">
                {visibleText(totals.hash_total.slice(0, HASH_SHOWN))}…
              </code>
            </span>
            <CopyButton what="hash total" text={totals.hash_total} />
          </>
        )}
      </p>
      {gone > 0 && (
        <p className={styles.left}>
          {gone} of {asked} left the deck meanwhile and will not be signed.
        </p>
      )}
    </section>
  );
}
