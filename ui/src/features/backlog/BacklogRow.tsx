import { Amount } from "../../components/Amount";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import { capitalised, kindWord } from "../review/words";
import styles from "./BacklogTable.module.css";
import { type BacklogItem, totalsText } from "./lines";

interface BacklogRowProps {
  item: BacklogItem;
  place: number;
  open: boolean;
  current: boolean;
  chosen: "none" | "some" | "all";
  /** Not chosen, and let in by what was chosen. */
  also: boolean;
  onChoose: (wanted: boolean) => void;
  onOpen: (wanted: boolean) => void;
}

/** The checkbox has the keyboard: Space chooses, Enter and the arrows open and close. */
export function BacklogRow({ item, place, open, current, chosen, also, onChoose, onOpen }: BacklogRowProps) {
  const { group, line } = item;
  const { free, held, mine } = line ?? group;
  const what = line === null ? group.entity : `${kindWord(line.kind)} · ${line.currency}`;
  const name = `${what}, ${group.tier}: ${free} free, ${held} held, ${mine} mine`;
  const totals = line === null ? group.totals : [line];
  const heldSums = totalsText(
    totals,
    (each) => each.held_amount,
    (each) => each.held,
  );
  return (
    <tr
      aria-rowindex={place + 2}
      data-line={line !== null}
      data-chosen={chosen !== "none"}
      data-testid={line === null ? `backlog-${group.entity}-${group.tier}` : undefined}
    >
      <th scope="row">
        <span className={styles.name}>
          <input
            type="checkbox"
            data-item={item.key}
            tabIndex={current ? 0 : -1}
            checked={chosen === "all"}
            ref={(box) => {
              if (box !== null) box.indeterminate = chosen === "some";
            }}
            aria-label={visibleText(name)}
            onChange={(event) => onChoose(event.target.checked)}
          />
          {line === null && (
            <button
              type="button"
              className={styles.open}
              tabIndex={-1}
              aria-expanded={open}
              aria-label={visibleText(`Kinds and currencies of ${group.entity}, ${group.tier}`)}
              onClick={() => onOpen(!open)}
            >
              <i aria-hidden="true">{open ? "▾" : "▸"}</i>
            </button>
          )}
          <Text text={what} />
          {also && (
            <em className={styles.also} title="The focus lets it in too, because of what else was chosen">
              also
            </em>
          )}
        </span>
      </th>
      <td className={styles.faint}>{line === null ? <Text text={capitalised(group.tier)} /> : ""}</td>
      <td className={styles.number}>{free}</td>
      <td>
        {line === null ? (
          <Text
            text={totalsText(
              totals,
              (each) => each.free_amount,
              (each) => each.free,
            )}
          />
        ) : (
          <Sum amount={line.free_amount} minorUnits={line.minor_units} currency={line.currency} />
        )}
      </td>
      <td className={styles.number} title={heldSums}>
        {held}
      </td>
      <td className={styles.heldSum}>
        {line === null ? (
          <Text text={heldSums} />
        ) : (
          <Sum amount={line.held_amount} minorUnits={line.minor_units} currency={line.currency} />
        )}
      </td>
      <td className={styles.number}>{mine}</td>
    </tr>
  );
}

function Sum({ amount, minorUnits, currency }: { amount: string; minorUnits: number; currency: string }) {
  return (
    <span className={styles.sum}>
      <Amount amount={amount} minorUnits={minorUnits} /> {visibleText(currency)}
    </span>
  );
}
