import { useMemo } from "react";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { LetterOutcome } from "../../generated/LetterOutcome";
import type { LetterRow } from "../../generated/LetterRow";
import styles from "./ReplayDialog.module.css";

/** So many are drawn; nobody reads more of them in a dialog. */
const SHOWN = 200;

interface OutcomeListProps {
  title: string;
  outcomes: readonly LetterOutcome[];
  rows: readonly LetterRow[];
  "data-testid": string;
}

/** What became, or would become, of letters, and why. */
export function OutcomeList({ title, outcomes, rows, "data-testid": testId }: OutcomeListProps) {
  const byId = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows]);
  if (outcomes.length === 0) return null;
  return (
    <section className={styles.list} aria-label={title} data-testid={testId}>
      <h3>
        {title} <span>{outcomes.length}</span>
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <section className={styles.scroll} aria-label={`${title}, one by one`} tabIndex={0}>
        <table>
          <tbody>
            {outcomes.slice(0, SHOWN).map(({ id, words, field }) => {
              const row = byId.get(id);
              return (
                <tr key={id}>
                  <th scope="row">{visibleText(row?.key ?? row?.origin ?? id)}</th>
                  <td>{visibleText(row?.entity ?? "")}</td>
                  <td>
                    {field !== null && <code>{visibleText(field)} </code>}
                    {visibleText(words)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {outcomes.length > SHOWN && <p>and {counted(outcomes.length - SHOWN, "more", "more")}</p>}
      </section>
    </section>
  );
}
