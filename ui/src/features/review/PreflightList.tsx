import { formatAmount } from "../../components/money";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import type { PreflightGroup } from "../../generated/PreflightGroup";
import { useDeck } from "../../ipc/reads";
import styles from "./Preflight.module.css";

/** More of them are looked at in the grid. */
const MOST_ROWS = 200;

/** The exceptions of one foreseen answer, and what they add up to. */
export function PreflightList({ id, group }: { id: string; group: PreflightGroup }) {
  const deck = useDeck();
  const wanted = new Set(group.ids);
  const rows = (deck.data?.value.rows ?? []).filter((row) => wanted.has(row.id));
  const rest = rows.length - MOST_ROWS;
  return (
    <div id={id} className={styles.list} data-testid="preflight-list">
      <p>
        {visibleText(group.explanation)}{" "}
        <span className={styles.net}>
          {group.totals
            .map((total) => `${total.currency} ${formatAmount(total.net, total.minor_units)}`)
            .map(visibleText)
            .join(" · ")}
        </span>
      </p>
      <ul>
        {rows.slice(0, MOST_ROWS).map((row) => (
          <li key={row.id}>
            <Text text={row.counterparty} />
            <Text text={row.entity} />
            <span className={styles.amount}>
              {visibleText(`${formatAmount(row.amount, row.minor_units)} ${row.currency}`)}
            </span>
          </li>
        ))}
      </ul>
      {rest > 0 && <p>and {rest} more</p>}
    </div>
  );
}
