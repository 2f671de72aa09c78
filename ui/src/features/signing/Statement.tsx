import { useId } from "react";
import { Button } from "../../components/Button";
import { Choice } from "../../components/Choice";
import field from "../../components/field.module.css";
import { visibleText } from "../../components/visible-text";
import type { ReasonCode } from "../../generated/ReasonCode";
import styles from "./SignDialog.module.css";
import type { useDraft } from "./use-draft";

const COMMENT_MAX = 2_000;

interface StatementProps {
  rejects: boolean;
  reasons: readonly ReasonCode[];
  writing: ReturnType<typeof useDraft>;
}

/** Why it is decided so: a reason code and a comment. */
export function Statement({ rejects, reasons, writing }: StatementProps) {
  const commentId = useId();
  const { draft, restored, change, clear } = writing;
  return (
    <>
      <Choice
        label={rejects ? "Reason" : "Reason (optional)"}
        options={reasons.map(({ code, label }) => ({ id: code, label: visibleText(label) }))}
        value={draft.reason}
        onChange={(reason) => change({ reason })}
        placeholder="Choose a reason"
        autoFocus={rejects}
        data-testid="sign-reason"
      />
      <div className={field.field}>
        <label className={field.label} htmlFor={commentId}>
          Comment (optional)
        </label>
        <textarea
          id={commentId}
          className={`${field.input} ${field.area}`}
          rows={2}
          maxLength={COMMENT_MAX}
          value={draft.comment}
          // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus, and a button would sign on a stray Space
          autoFocus={!rejects}
          onChange={(event) => change({ comment: event.target.value })}
          data-testid="sign-comment"
        />
        {restored && (
          <p className={styles.restored} data-testid="draft-restored">
            What you had begun to write is back; it may have been for another batch.
            <Button look="quiet" onPress={clear} data-testid="draft-clear">
              Clear
            </Button>
          </p>
        )}
      </div>
    </>
  );
}
