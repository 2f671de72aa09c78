import { visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import styles from "./Detail.module.css";

/** What is to know of the row before it is decided: its state, why it is back, its marks, and what keeps its effect back. */
export function State({ row }: { row: DeckRow }) {
  const { state, note, marks, held_behind: behind } = row;
  // The workstation puts the most important of them into the state.
  const said = (text: string) => state.explanation.includes(text);
  const others = marks.filter(({ explanation }) => !said(explanation));
  return (
    <>
      {state.label !== "" && (
        <p className={styles.state} data-tone={state.tone} data-testid="detail-state">
          <b>{visibleText(state.label)}</b> {visibleText(state.explanation)}
        </p>
      )}
      {note !== null && !said(note) && <p className={styles.note}>{visibleText(note)}</p>}
      {others.length > 0 && (
        <ul className={styles.marks} aria-label="What to know of it">
          {others.map(({ kind, label, explanation }) => (
            <li key={kind} data-kind={kind}>
              <b>{visibleText(label)}</b> <span>{visibleText(explanation)}</span>
            </li>
          ))}
        </ul>
      )}
      {behind !== null && !said(`number ${behind.seq} of its partition`) && (
        <p className={styles.sub}>
          Its effect waits for the earlier item #{visibleText(behind.seq)} of its partition.
        </p>
      )}
    </>
  );
}
