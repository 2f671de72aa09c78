import { Button } from "../../components/Button";
import { formatAmount } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import type { SelectionTotals } from "../../generated/SelectionTotals";
import { ACTIONS, type ActionId } from "../actions/actions";
import { perform } from "../actions/handlers";
import { useKeyOf, writtenKey } from "../actions/keymap";
import { RefusalsButton } from "./RefusalsButton";
import styles from "./SelectionBar.module.css";
import type { Refusals } from "./selection-facts";
import { TotalsButton } from "./TotalsButton";

/** The ones with the most items: more do not fit beside the buttons, and behind the button they are all. */
const MOST_CURRENCIES = 3;
/** With more currencies than this the largest of each is behind the button alone. */
const MOST_WITH_LARGEST = 2;

export interface SelectionBarProps {
  count: number;
  shown: number;
  total: number;
  hidden: number;
  /** In groups that are collapsed: their headings stand for them. */
  folded: number;
  totals: SelectionTotals | null;
  /** The totals are of an earlier selection. */
  counting: boolean;
  /** Why there are no totals, or `null`. */
  problem: string | null;
  /** Why nothing can be signed, or `null`. */
  blocked: string | null;
  /** Why nothing can be given away, or `null`. */
  keeps: string | null;
  oldestDays: number | null;
  refusals: Refusals;
  /** Part of a group is selected. */
  splitGroup: boolean;
}

/** What is selected, what it adds up to, and what can be done with it. Its height never changes. */
export function SelectionBar(props: SelectionBarProps) {
  const { count, hidden, blocked, keeps, refusals } = props;
  return (
    <section className={styles.bar} aria-label="Selection" data-testid="selection-bar">
      <div className={styles.facts}>
        <div className={styles.line}>
          <b className={styles.count}>{countWords(props)}</b>
          {props.oldestDays !== null && <span className={styles.fact}>oldest {props.oldestDays} d</span>}
          {refusals.ids.length > 0 && <RefusalsButton refusals={refusals} />}
          {hidden > 0 && (
            <Warning text={`${hidden} hidden by the filter`} action="drop-hidden">
              Drop hidden
            </Warning>
          )}
          {props.folded > 0 && (
            <Warning text={`${props.folded} in collapsed groups`} action="expand-groups">
              Expand
            </Warning>
          )}
          {hidden === 0 && props.splitGroup && (
            <Warning
              text="A group is split"
              title="Items of one group are signed together"
              action="select-group"
            >
              Select whole group
            </Warning>
          )}
          {hidden === 0 && props.splitGroup && (
            <Warning action="drop-refused" title="The items of split groups stay in the deck">
              Leave it out
            </Warning>
          )}
          {props.problem !== null && <span className={styles.warning}>{visibleText(props.problem)}</span>}
        </div>
        <Totals totals={props.totals} counting={props.counting} />
      </div>
      <Act
        id="hand-over"
        label="Hand over…"
        whyNot={keeps}
        title="Hands the selection to a colleague: whole partitions"
      />
      <Act
        id="release"
        label="Release"
        whyNot={keeps}
        title="Gives the selection back for colleagues to take: whole partitions, so it may be more than is selected"
      />
      <Act id="reject" label="Reject" whyNot={blocked} />
      <Act id="approve" label={`Approve ${count > 0 ? count : ""}`} whyNot={blocked} primary />
    </section>
  );
}

/** By currency: what is selected, summed by the workstation. Dollars and euros are never added up. */
function Totals({ totals, counting }: Pick<SelectionBarProps, "totals" | "counting">) {
  const currencies = (totals?.totals ?? []).toSorted((a, b) => b.count - a.count);
  return (
    <div className={styles.line}>
      <div className={styles.totals} data-counting={counting}>
        {currencies.slice(0, MOST_CURRENCIES).map((each) => (
          <span key={each.currency} title={totalTitle(each)}>
            {visibleText(each.currency)} <em>{formatAmount(each.net, each.minor_units)}</em>
            <small>
              {" "}
              {each.count}
              {currencies.length <= MOST_WITH_LARGEST &&
                ` · largest ${formatAmount(each.largest, each.minor_units)}`}
            </small>
          </span>
        ))}
      </div>
      {currencies.length > 0 && (
        <TotalsButton
          totals={totals?.totals ?? []}
          label={currencies.length === 1 ? "Totals" : `All ${currencies.length} currencies`}
        />
      )}
    </div>
  );
}

function Warning(props: { text?: string; title?: string; action: ActionId; children: string }) {
  const keyOf = useKeyOf();
  return (
    <span className={styles.warning} title={props.title}>
      {props.text}
      <Button
        look="quiet"
        shortcut={shortcutOf(keyOf(props.action))}
        onPress={() => perform(props.action)}
        data-testid={props.action}
      >
        {props.children}
      </Button>
    </span>
  );
}

interface ActProps {
  id: ActionId;
  label: string;
  whyNot: string | null;
  title?: string;
  primary?: boolean;
}

function Act({ id, label, whyNot, title, primary = false }: ActProps) {
  const keyOf = useKeyOf();
  return (
    <Button
      look={primary ? "primary" : "plain"}
      shortcut={shortcutOf(keyOf(id))}
      isDisabled={whyNot !== null}
      title={whyNot ?? title ?? ACTIONS[id].label}
      onPress={() => perform(id)}
      data-testid={id}
    >
      {label}
    </Button>
  );
}

function shortcutOf(key: string): string | undefined {
  return key === "" ? undefined : writtenKey(key);
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
