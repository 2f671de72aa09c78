import { useEffect, useId, useRef } from "react";
import { visibleText } from "../../components/visible-text";
import type { LetterField } from "../../generated/LetterField";
import type { LetterView } from "../../generated/LetterView";
import styles from "./LetterEditor.module.css";
import { type Draft, type FieldEdit, isNothing, withEdit } from "./letter-draft";

interface FieldEditorProps {
  view: LetterView;
  draft: Draft;
  onChange: (draft: Draft) => void;
}

/** Longer ones and those with lines are written in an area. */
const LINE_CHARS = 90;
const MOST_ROWS = 8;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Every field in the order of the text. The keyboard begins in the one at fault. */
export function FieldEditor({ view, draft, onChange }: FieldEditorProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const found = (css: string) => list.current?.querySelector<HTMLInputElement>(css) ?? null;
    const field = found('[data-fault="true"] [data-value]') ?? found("[data-value]");
    const frame = list.current?.parentElement ?? null;
    // Within the frame alone: the window around it stays where it is.
    if (frame !== null && field !== null) {
      frame.scrollTop = field.offsetTop - frame.clientHeight / 2 + field.offsetHeight / 2;
    }
    field?.focus({ preventScroll: true });
    field?.select();
  }, []);
  return (
    <div ref={list} className={styles.fields}>
      {view.fields.map((field) => (
        <FieldRow
          key={field.path}
          field={field}
          reason={field.at_fault ? view.row.reason : null}
          edit={draft.edits.get(field.path) ?? null}
          onEdit={(edit) => onChange(withEdit(draft, field, edit))}
        />
      ))}
    </div>
  );
}

interface FieldRowProps {
  field: LetterField;
  reason: string | null;
  edit: FieldEdit | null;
  onEdit: (edit: FieldEdit) => void;
}

function FieldRow({ field, reason, edit, onEdit }: FieldRowProps) {
  const id = useId();
  const { path, at_fault, missing } = field;
  // Where nothing was, a text is the rule.
  const value = edit === null ? (isNothing(field) ? "" : field.value) : edit.value;
  const text = edit?.text ?? (field.text || isNothing(field));
  const gone = value === null;
  const note = noteOf(value, reason);
  const shared = {
    id,
    className: styles.input,
    value: value ?? "",
    placeholder: isNothing(field) ? "null" : undefined,
    disabled: gone,
    spellCheck: false,
    autoComplete: "off",
    "aria-invalid": at_fault && edit === null ? true : undefined,
    "aria-describedby": note === "" ? undefined : `${id}-note`,
    "data-value": true,
    "data-testid": `field-${path}`,
    onChange: (event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onEdit({ value: event.target.value, text }),
  };
  // By what came: a field that changed its kind while it is written in would lose the keyboard.
  const long = field.value.includes("\n") || field.value.length > LINE_CHARS;
  const rows = Math.min(MOST_ROWS, Math.max(2, (value ?? "").split("\n").length));
  return (
    <div className={styles.field} data-fault={at_fault} data-changed={edit !== null || undefined}>
      <label htmlFor={id}>
        {visibleText(path)}
        {missing && <em> not there</em>}
      </label>
      {long ? <textarea {...shared} rows={rows} /> : <input {...shared} type="text" />}
      <button
        type="button"
        className={styles.kind}
        aria-label={`${text ? "text" : "JSON"}: how ${visibleText(path)} is written`}
        title={
          text
            ? "Written as a text; press for a number, true, false, null, a list or an object"
            : "Written as JSON; press for a text"
        }
        disabled={gone}
        onClick={() => onEdit({ value: value ?? "", text: !text })}
      >
        {text ? "text" : "JSON"}
      </button>
      <button
        type="button"
        className={styles.kind}
        disabled={missing && edit === null}
        aria-label={`${visibleText(path)}: ${edit === null ? "take it out" : "as it was"}`}
        title={edit === null ? "Takes the field out" : "As it was"}
        onClick={() =>
          onEdit(edit === null ? { value: null, text } : { value: field.value, text: field.text })
        }
      >
        {edit === null ? "×" : "↶"}
      </button>
      {(note !== "" || gone) && (
        <p id={`${id}-note`} className={at_fault ? styles.reason : styles.hidden}>
          {gone ? "It is taken out." : note}
        </p>
      )}
    </div>
  );
}

/** Why it is wrong, and what in it cannot be seen. */
function noteOf(value: string | null, reason: string | null): string {
  const unseen = HIDDEN.test((value ?? "").replaceAll("\n", ""))
    ? `It reads ${visibleText(value ?? "")}`
    : "";
  return [reason === null ? "" : visibleText(reason), unseen].filter(Boolean).join(" ");
}
