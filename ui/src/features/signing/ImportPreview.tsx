import { Button } from "../../components/Button";
import { formatAmount } from "../../components/money";
import { counted } from "../../components/plural";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { ImportDifference } from "../../generated/ImportDifference";
import type { ImportGroup } from "../../generated/ImportGroup";
import type { ImportProblem } from "../../generated/ImportProblem";
import type { ImportView } from "../../generated/ImportView";
import styles from "./ImportDialog.module.css";

interface ImportPreviewProps {
  view: ImportView;
  /** It is being read anew: what it says may be signed already. */
  busy: boolean;
  onSign: (group: ImportGroup) => void;
}

/** What a spreadsheet comes to: what can be signed, where it says something else than the deck, and what cannot be signed. */
export function ImportPreview({ view, busy, onSign }: ImportPreviewProps) {
  const { groups, differences, problems } = view;
  return (
    <>
      <p className={styles.sum} data-testid="import-sum">
        {visibleText(view.file)}: {counted(view.rows, "row")}, {view.undecided} of them undecided.
      </p>
      {groups.length === 0 ? (
        <p data-testid="import-nothing">Nothing in it can be signed, or is left to be.</p>
      ) : (
        <ul className={styles.groups} aria-label="What can be signed" data-testid="import-groups">
          {groups.map((group) => (
            <Group
              key={`${group.decision} ${group.reason} ${group.comment}`}
              group={group}
              busy={busy}
              onSign={() => onSign(group)}
            />
          ))}
        </ul>
      )}
      <Problems problems={problems} />
      <Differences differences={differences} />
    </>
  );
}

function Group({ group, busy, onSign }: { group: ImportGroup; busy: boolean; onSign: () => void }) {
  const { decision, reason, comment, ids, totals } = group;
  const what = `${decision === "APPROVE" ? "Approve" : "Reject"} ${ids.length}`;
  const nets = totals.map((each) => `${each.currency} ${formatAmount(each.net, each.minor_units)}`);
  return (
    <li className={styles.group}>
      <span>
        <b>{what}</b> · {visibleText(nets.join(" · "))}
      </span>
      <p>
        {reason !== null && visibleText(reason)}
        {reason !== null && comment !== null && ": "}
        {comment !== null && visibleLines(comment)}
        {reason === null && comment === null && "Without reason or comment"}
      </p>
      <Button
        isBusy={busy}
        onPress={onSign}
        aria-label={`Sign: ${what}`}
        data-testid={`import-sign-${decision}`}
      >
        Sign…
      </Button>
    </li>
  );
}

function Problems({ problems }: { problems: readonly ImportProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <section>
      <h3 className={styles.title}>{counted(problems.length, "row")} that cannot be signed</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be in the tab order */}
      <section className={styles.frame} aria-label="Rows that cannot be signed" tabIndex={0}>
        <table className={styles.table} data-testid="import-problems">
          <thead>
            <tr>
              <th scope="col">Row</th>
              <th scope="col">Exception</th>
              <th scope="col">What is wrong</th>
            </tr>
          </thead>
          <tbody>
            {problems.map(({ row, id, message }) => (
              <tr key={`${row} ${message}`}>
                <td>{row === 0 ? "file" : row}</td>
                <td>{id === null ? "unknown" : visibleText(id)}</td>
                <td>{visibleText(message)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Differences({ differences }: { differences: readonly ImportDifference[] }) {
  if (differences.length === 0) return null;
  return (
    <section>
      <h3 className={styles.title}>
        {counted(differences.length, "cell")} where the file says something else; the deck is what will be
        signed
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as above */}
      <section className={styles.frame} aria-label="Differences between file and deck" tabIndex={0}>
        <table className={styles.table} data-testid="import-differences">
          <thead>
            <tr>
              <th scope="col">Row</th>
              <th scope="col">Column</th>
              <th scope="col">In the file</th>
              <th scope="col">In the deck</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ row, column, in_file, in_deck }) => (
              <tr key={`${row} ${column}`}>
                <td>{row}</td>
                <td>{visibleText(column)}</td>
                <td>
                  <div className={styles.long}>{visibleText(in_file)}</div>
                </td>
                <td>
                  <div className={styles.long}>{visibleText(in_deck)}</div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
