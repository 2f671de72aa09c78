import { AmountList } from "../../components/AmountList";
import { formatAmount } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import type { PreflightGroup } from "../../generated/PreflightGroup";
import { useDeck } from "../../ipc/reads";
import styles from "./Preflight.module.css";

/** The exceptions of one foreseen answer, why it is foreseen, and what they add up to. */
export function PreflightList({ id, group }: { id: string; group: PreflightGroup }) {
  const deck = useDeck();
  const wanted = new Set(group.ids);
  const rows = (deck.data?.value.rows ?? []).filter((row) => wanted.has(row.id));
  return (
    <div id={id} className={styles.opened} data-testid="preflight-list">
      <p>
        {visibleText(group.explanation)}{" "}
        <span className={styles.net}>
          {group.totals
            .map((total) => `${total.currency} ${formatAmount(total.net, total.minor_units)}`)
            .map(visibleText)
            .join(" · ")}
        </span>
      </p>
      <AmountList label={visibleText(group.label)} lines={rows.map(lineOf)} />
    </div>
  );
}

function lineOf(row: DeckRow) {
  const known = [row.note ?? "", ...row.marks.map(({ label }) => label)].filter(Boolean);
  return {
    id: row.id,
    counterparty: row.counterparty,
    entity: row.entity,
    amount: row.amount,
    currency: row.currency,
    minorUnits: row.minor_units,
    note: known.length === 0 ? null : known.join(" · "),
  };
}
