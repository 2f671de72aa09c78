import { useId, useState } from "react";
import { Button } from "../../components/Button";
import field from "../../components/field.module.css";
import { counted } from "../../components/plural";
import { Window } from "../../components/Window";
import { useLetterDesk } from "./letters-store";
import styles from "./ReplayDialog.module.css";
import { useLetterCalls } from "./use-letter-calls";

/** As long as the database keeps one, in characters. */
const REASON_CHARS = 1_000;

/** Asking for letters to be discarded, with a reason. They are kept all the same. */
export function DiscardDialog() {
  const question = useLetterDesk((state) => state.question);
  return question?.kind === "discard" ? <Discarding ids={question.ids} /> : null;
}

function Discarding({ ids }: { ids: readonly string[] }) {
  const { ask, focusRows } = useLetterDesk.getState();
  const calls = useLetterCalls();
  const id = useId();
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const missing = reason.trim() === "";
  const close = () => {
    ask(null);
    requestAnimationFrame(focusRows);
  };
  const discard = async () => {
    if (missing || busy) return;
    setBusy(true);
    await calls.discard(ids, reason.trim());
    close();
  };
  return (
    <Window title={`Discard ${counted(ids.length, "letter")}`} onClose={close} data-testid="discard-dialog">
      <form
        className={styles.body}
        onSubmit={(event) => {
          event.preventDefault();
          void discard();
        }}
        onKeyDownCapture={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.stopPropagation();
          void discard();
        }}
      >
        <p>
          A supervisor who is somebody else has to agree, with countersign-admin. Until then it waits, and it
          is kept with its original after that as well.
        </p>
        <div className={field.field}>
          <label className={field.label} htmlFor={id}>
            Why it never has to go in
          </label>
          <textarea
            id={id}
            className={`${field.input} ${field.area}`}
            // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus
            autoFocus
            maxLength={REASON_CHARS}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            data-testid="discard-reason"
          />
        </div>
        <div className={styles.actions}>
          <Button shortcut="Esc" onPress={close}>
            Cancel
          </Button>
          <Button
            look="primary"
            type="submit"
            shortcut="Ctrl ⏎"
            isDisabled={missing}
            isBusy={busy}
            title={missing ? "Discarding needs a reason." : undefined}
            data-testid="discard-confirm"
          >
            Ask for it
          </Button>
        </div>
      </form>
    </Window>
  );
}
