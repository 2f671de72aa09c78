import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { LetterView } from "../../generated/LetterView";
import { Difference } from "./Difference";
import styles from "./LetterRecord.module.css";
import { isChanged, pendingChanges } from "./letter-draft";
import { useLetterDesk } from "./letters-store";

/** What was changed in it, by whom, and what happened to it. */
export function LetterRecord({ view }: { view: LetterView }) {
  const draft = useLetterDesk((state) => state.drafts.get(view.row.id));
  const { changes, corrections, history, discard_by, discard_reason } = view;
  const unsaved = draft !== undefined && isChanged(draft, view) ? pendingChanges(draft, view) : [];
  return (
    <section
      className={styles.pane}
      aria-label="Corrections and history"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
      tabIndex={0}
      data-testid="letter-record"
    >
      {discard_by !== null && (
        <p className={styles.discard}>
          {visibleText(discard_by)} wants to discard it: {visibleText(discard_reason ?? "no reason")}. A
          supervisor who is somebody else has to agree, with countersign-admin.
        </p>
      )}
      {unsaved.length > 0 && (
        <Part title="Not saved yet">
          <Difference changes={unsaved} data-testid="letter-unsaved" />
        </Part>
      )}
      {changes.length > 0 && (
        <Part title="Corrected, against the original">
          <Difference changes={changes} data-testid="letter-changes" />
        </Part>
      )}
      {corrections.length > 0 && (
        <Part title="Corrections">
          <ol className={styles.events}>
            {corrections.map(({ revision, by, at, changes: some }) => (
              <li key={revision}>
                <b>{visibleText(by)}</b> <time>{instantText(at, Date.now())}</time>
                <span>{visibleText(some.map(({ path }) => path || "the text").join(", "))}</span>
              </li>
            ))}
          </ol>
        </Part>
      )}
      <Part title="History">
        <ol className={styles.events} data-testid="letter-history">
          {history.map(({ at, words, actor, facts }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: what happened stays where it is
            <li key={place}>
              <b>{visibleText(words)}</b> <time>{instantText(at, Date.now())}</time>
              <span>
                {visibleText(
                  [actor ?? "", ...facts.map(({ label, value }) => `${label}: ${value}`)]
                    .filter(Boolean)
                    .join(" · "),
                )}
              </span>
            </li>
          ))}
        </ol>
        {history.length === 0 && <p className={styles.faint}>Nothing is recorded.</p>}
      </Part>
    </section>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className={styles.part}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
