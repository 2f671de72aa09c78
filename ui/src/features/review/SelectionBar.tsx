import { Button } from "../../components/Button";
import { formatAmount } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import type { SelectionTotals } from "../../generated/SelectionTotals";
import type { GridCommand } from "./keys";
import styles from "./SelectionBar.module.css";

/** The ones with the most items: more do not fit beside the buttons, and the dialog lists them all. */
const MOST_CURRENCIES = 3;

interface SelectionBarProps {
  count: number;
  shown: number;
  total: number;
  hidden: number;
  totals: SelectionTotals | null;
  /** The totals are of an earlier selection. */
  counting: boolean;
  /** Why there are no totals, or `null`. */
  problem: string | null;
  /** Why nothing can be signed, or `null`. */
  blocked: string | null;
  canRelease: boolean;
  onCommand: (command: GridCommand) => void;
  onDropHidden: () => void;
  /** Part of a group is selected. */
  splitGroup: boolean;
  onSelectGroups: () => void;
}

/** What is selected, what it adds up to, and what can be done with it. Its height never changes. */
export function SelectionBar(props: SelectionBarProps) {
  const { count, hidden, totals, blocked, onCommand } = props;
  const currencies = (totals?.totals ?? []).toSorted((a, b) => b.count - a.count);
  const rest = currencies.slice(MOST_CURRENCIES);
  return (
    <footer className={styles.bar} data-testid="selection-bar">
      <b className={styles.count}>{countWords(props)}</b>
      <div className={styles.totals} data-counting={props.counting}>
        {currencies.slice(0, MOST_CURRENCIES).map((each) => (
          <span key={each.currency} title={totalTitle(each)}>
            {visibleText(each.currency)} <em>{formatAmount(each.net, each.minor_units)}</em>
          </span>
        ))}
        {rest.length > 0 && (
          <span title={rest.map(totalTitle).join("\n")}>
            and {rest.length} more {rest.length === 1 ? "currency" : "currencies"}
          </span>
        )}
      </div>
      {props.problem !== null && <span className={styles.warning}>{visibleText(props.problem)}</span>}
      {hidden > 0 && (
        <span className={styles.warning}>
          {hidden} hidden by the filter
          <Button look="quiet" onPress={props.onDropHidden} data-testid="drop-hidden">
            Drop hidden
          </Button>
        </span>
      )}
      {hidden === 0 && props.splitGroup && (
        <span className={styles.warning} title="Items of one group are signed together">
          A group is split
          <Button look="quiet" onPress={props.onSelectGroups} data-testid="select-group">
            Select whole group
          </Button>
        </span>
      )}
      <span className={styles.space} />
      <Button
        shortcut="H"
        isDisabled={!props.canRelease}
        title="Hands the selection to a colleague: whole partitions"
        onPress={() => onCommand({ kind: "hand-over" })}
        data-testid="hand-over"
      >
        Hand over…
      </Button>
      <Button
        shortcut="X"
        isDisabled={!props.canRelease}
        title="Gives the selection back for colleagues to take: whole partitions, so it may be more than is selected"
        onPress={() => onCommand({ kind: "release" })}
        data-testid="release"
      >
        Release
      </Button>
      <Button
        shortcut="R"
        isDisabled={blocked !== null}
        title={blocked ?? undefined}
        onPress={() => onCommand({ kind: "reject" })}
        data-testid="reject"
      >
        Reject
      </Button>
      <Button
        look="primary"
        shortcut="A"
        isDisabled={blocked !== null}
        title={blocked ?? undefined}
        onPress={() => onCommand({ kind: "approve" })}
        data-testid="approve"
      >
        Approve {count > 0 ? count : ""}
      </Button>
    </footer>
  );
}

function countWords({ count, hidden, shown, total }: SelectionBarProps): string {
  if (count === 0) return "None selected";
  if (hidden === 0 && count === shown && shown < total) return `All ${shown} shown of ${total}`;
  return `${count} selected`;
}

function totalTitle({ currency, minor_units, count, debits, credits, net, largest }: CurrencyTotal): string {
  const amount = (text: string) => formatAmount(text, minor_units);
  return visibleText(
    `${currency}: ${count} items, net ${amount(net)}, debits ${amount(debits)}, credits ${amount(credits)}, largest ${amount(largest)}`,
  );
}
