import { useId } from "react";
import field from "../../components/field.module.css";
import { visibleText } from "../../components/visible-text";
import styles from "./SignDialog.module.css";

interface TypedTotalsProps {
  currencies: readonly string[];
  /** By currency, as typed. */
  typed: Readonly<Record<string, string>>;
  /** Currencies whose text is no amount, and why. */
  unread: readonly { currency: string; problem: string }[];
  /** What the workstation says of the last attempt. */
  problem: string | null;
  onChange: (currency: string, text: string) => void;
}

/** Above the threshold of policy the reviewer types the control totals, from a source of their own. */
export function TypedTotals({ currencies, typed, unread, problem, onChange }: TypedTotalsProps) {
  const problemId = useId();
  if (currencies.length === 0) return null;
  const named = currencies.filter((currency) => problem?.includes(currency));
  // A message that names no currency is about all of them.
  const wrong = problem === null ? [] : named.length === 0 ? currencies : named;
  return (
    <fieldset className={styles.typed} data-testid="typed-totals">
      <legend>
        Policy asks you to type the net control total of {currencies.length > 1 ? "each" : "this"} currency
      </legend>
      <div className={styles.typedFields}>
        {currencies.map((currency) => (
          <label key={currency} className={field.field}>
            <span className={field.label}>{visibleText(currency)} net</span>
            <input
              className={`${field.input} ${styles.typedInput}`}
              inputMode="decimal"
              autoComplete="off"
              spellCheck={false}
              maxLength={60}
              value={typed[currency] ?? ""}
              aria-invalid={wrong.includes(currency) || unread.some((each) => each.currency === currency)}
              aria-describedby={problemId}
              onChange={(event) => onChange(currency, event.target.value)}
              data-testid={`typed-total-${currency}`}
            />
          </label>
        ))}
      </div>
      <p id={problemId} className={styles.problem} role="alert" data-testid="typed-problem">
        {problem !== null
          ? visibleText(problem)
          : unread.map(({ currency, problem: words }) => `${visibleText(currency)}: ${words}`).join(" ")}
      </p>
    </fieldset>
  );
}
