import { Button } from "../../components/Button";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { LetterView } from "../../generated/LetterView";
import styles from "./LetterEditor.module.css";
import { type Draft, pendingChanges } from "./letter-draft";

interface CorrectionConflictProps {
  view: LetterView;
  draft: Draft;
  onKeep: (draft: Draft) => void;
  onDrop: () => void;
}

/** Somebody else corrected the letter meanwhile: both corrections, and what can be done about it. */
export function CorrectionConflict({ view, draft, onKeep, onDrop }: CorrectionConflictProps) {
  const theirs = view.corrections.filter(({ revision }) => revision > draft.revision);
  const by = theirs.map((each) => each.by).at(-1) ?? "Somebody else";
  const mine = pendingChanges(draft, view);
  return (
    <section
      className={styles.conflict}
      aria-label="Two corrections"
      role="alert"
      data-testid="letter-conflict"
    >
      <p>{visibleText(by)} corrected it meanwhile. Yours is not kept yet.</p>
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{visibleText(by)}</th>
            <th scope="col">You</th>
          </tr>
        </thead>
        <tbody>
          {theirs.flatMap(({ revision, changes }) =>
            changes.map(({ path, after }) => (
              <tr key={`${revision} ${path}`}>
                <th scope="row">{path === "" ? "The text" : visibleText(path)}</th>
                <td>{after === null ? "taken out" : visibleLines(after)}</td>
                <td>{visibleLines(mine.find((each) => each.path === path)?.after ?? "–")}</td>
              </tr>
            )),
          )}
          {mine
            .filter(({ path }) => !theirs.some(({ changes }) => changes.some((each) => each.path === path)))
            .map(({ path, after }) => (
              <tr key={path}>
                <th scope="row">{path === "" ? "The text" : visibleText(path)}</th>
                <td>–</td>
                <td>{after === null ? "taken out" : visibleLines(after)}</td>
              </tr>
            ))}
        </tbody>
      </table>
      <div className={styles.actions}>
        <Button onPress={onDrop} data-testid="conflict-drop">
          Take theirs
        </Button>
        <Button onPress={() => onKeep({ ...draft, revision: view.revision })} data-testid="conflict-keep">
          {draft.body === null ? "Put mine on top" : "Replace theirs by mine"}
        </Button>
      </div>
    </section>
  );
}
