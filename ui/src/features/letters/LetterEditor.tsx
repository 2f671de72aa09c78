import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import type { LetterView } from "../../generated/LetterView";
import { CorrectionConflict } from "./CorrectionConflict";
import { FieldEditor } from "./FieldEditor";
import styles from "./LetterEditor.module.css";
import { useCorrection } from "./use-correction";

/** A correction on its way: field by field or as one text. Leaving it keeps what was written until it is saved or dropped. */
export function LetterEditor({ view }: { view: LetterView }) {
  const { draft, conflict, problem, busy, changed, change, save, leave, drop } = useCorrection(view);
  const { fields, body } = view;
  const whole = draft.body !== null;
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles.editor} onKeyDownCapture={onKeyDown} data-testid="letter-editor">
      {conflict && <CorrectionConflict view={view} draft={draft} onKeep={change} onDrop={drop} />}
      <div className={styles.scroll}>
        {whole ? (
          <WholeText text={draft.body ?? ""} onChange={(text) => change({ ...draft, body: text })} />
        ) : (
          <FieldEditor view={view} draft={draft} onChange={change} />
        )}
      </div>
      <div className={styles.foot}>
        <p
          className={problem === null ? styles.note : styles.problem}
          title={problem === null ? undefined : visibleText(problem)}
          role={problem === null ? undefined : "alert"}
          data-testid="letter-problem"
        >
          {problem === null
            ? "Who corrects it becomes a preparer of it: you will not be able to sign it."
            : visibleText(problem)}
        </p>
        <div className={styles.actions}>
          {fields.length > 0 && (
            <Button
              look="quiet"
              isDisabled={draft.edits.size > 0 || (whole && draft.body !== body)}
              title={changed ? "Save or drop the correction first." : undefined}
              onPress={() => change({ ...draft, body: whole ? null : (body ?? "") })}
              data-testid="letter-whole"
            >
              {whole ? "By fields" : "As text"}
            </Button>
          )}
          <Button look="quiet" isDisabled={!changed} onPress={drop} data-testid="letter-drop">
            Drop
          </Button>
          <Button shortcut="Esc" onPress={leave} data-testid="letter-leave">
            Back
          </Button>
          <Button
            look="primary"
            shortcut="Ctrl ⏎"
            isDisabled={!changed || conflict}
            isBusy={busy}
            onPress={() => void save()}
            data-testid="letter-save"
          >
            Save correction
          </Button>
        </div>
      </div>
    </div>
  );
}

function WholeText({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [area, setArea] = useState<HTMLTextAreaElement | null>(null);
  useEffect(() => area?.focus(), [area]);
  return (
    <textarea
      ref={setArea}
      className={styles.whole}
      aria-label="The whole text"
      value={text}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => onChange(event.target.value)}
      data-testid="letter-text"
    />
  );
}
