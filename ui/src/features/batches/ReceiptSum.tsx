import { useId, useState } from "react";
import { Button } from "react-aria-components";
import { AmountList } from "../../components/AmountList";
import { withOwnInstants } from "../../components/clock";
import type { BatchView } from "../../generated/BatchView";
import type { OutboxRow } from "../../generated/OutboxRow";
import { STATE_WORDS } from "../sync/outbox-words";
import styles from "./BatchReceipt.module.css";
import { PART_WORDS, PARTS, type Part, partOf } from "./parts";

/** The line that adds up; each of its parts opens to its list. */
export function ReceiptSum({ view }: { view: BatchView }) {
  const [open, setOpen] = useState<Part | null>(null);
  const listId = useId();
  const shown = open !== null && view.row[open] > 0 ? open : null;
  return (
    <>
      <div className={styles.sum} data-testid="receipt-sum">
        <b>{view.row.signed} signed</b>
        {PARTS.map((part, place) => (
          <span key={part} className={styles.sum}>
            {place === 0 ? "=" : "+"}
            <Button
              className={styles.part}
              data-part={part}
              isDisabled={view.row[part] === 0}
              aria-expanded={part === shown}
              aria-controls={part === shown ? listId : undefined}
              onPress={() => setOpen(part === shown ? null : part)}
              data-testid={`receipt-${part}`}
            >
              {view.row[part]} {PART_WORDS[part]}
            </Button>
          </span>
        ))}
      </div>
      {shown !== null && (
        <AmountList
          id={listId}
          label={`Decisions that are ${PART_WORDS[shown]}`}
          lines={view.rows.filter((row) => partOf(row) === shown).map((row) => lineOf(row, shown))}
          data-testid="receipt-list"
        />
      )}
    </>
  );
}

function lineOf(row: OutboxRow, part: Part) {
  const said = withOwnInstants(row.message ?? STATE_WORDS[row.state], Date.now());
  return {
    id: row.key,
    counterparty: row.counterparty,
    entity: row.entity,
    amount: row.amount,
    currency: row.currency,
    minorUnits: row.minor_units,
    note: part === "refused" || part === "waiting" ? said : null,
  };
}
