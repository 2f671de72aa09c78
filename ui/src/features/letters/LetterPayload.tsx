import { useEffect, useRef } from "react";
import { counted } from "../../components/plural";
import { visibleLines, visibleText } from "../../components/visible-text";
import type { LetterField } from "../../generated/LetterField";
import type { LetterView } from "../../generated/LetterView";
import styles from "./LetterPayload.module.css";

/** What the letter says now, with the field at fault marked; as one text where it has no fields. */
export function LetterPayload({ view }: { view: LetterView }) {
  const { fields, body, original, cut, original_size } = view;
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    // Within the pane alone: the window around it stays where it is.
    const fault = pane.current?.querySelector<HTMLElement>("[data-fault]");
    if (fault != null && pane.current !== null) {
      pane.current.scrollTop = fault.offsetTop - pane.current.clientHeight / 2 + fault.offsetHeight / 2;
    }
  }, []);
  return (
    <section
      ref={pane}
      className={styles.pane}
      aria-label="Content"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
      tabIndex={0}
      data-testid="letter-payload"
    >
      {body === null && !cut && (
        <p className={styles.note}>
          A workstation gave it up: it is no arrival, and nothing can be corrected in it. The exception is
          still pending for others.
        </p>
      )}
      {cut && (
        <p className={styles.note}>
          The original has {original_size} bytes: this is its beginning. What is longer than can be shown is
          corrected with countersign-admin.
        </p>
      )}
      {fields.length > 0 ? (
        <table className={styles.fields} aria-label={counted(fields.length, "field")}>
          <tbody>
            {fields.map((field) => (
              <Field key={field.path} field={field} reason={view.row.reason} />
            ))}
          </tbody>
        </table>
      ) : (
        <pre className={styles.text}>{visibleLines(body ?? original)}</pre>
      )}
    </section>
  );
}

function Field({ field, reason }: { field: LetterField; reason: string }) {
  const { path, value, text, at_fault, missing, original } = field;
  return (
    <tr data-fault={at_fault || undefined} data-testid={at_fault ? "letter-fault" : undefined}>
      <th scope="row">{visibleText(path)}</th>
      <td>
        {missing ? (
          <i className={styles.faint}>not there</i>
        ) : text && value === "" ? (
          <i className={styles.faint}>empty</i>
        ) : (
          <span className={text ? undefined : styles.json}>{visibleText(value)}</span>
        )}
        {original !== null && <del className={styles.was}>{visibleText(original)}</del>}
        {at_fault && <span className={styles.reason}>{visibleText(reason)}</span>}
      </td>
    </tr>
  );
}
