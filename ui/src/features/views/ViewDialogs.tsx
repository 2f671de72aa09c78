import { useId, useState } from "react";
import { Button } from "../../components/Button";
import field from "../../components/field.module.css";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import { ColumnsDialog } from "./ColumnsDialog";
import styles from "./ViewDialogs.module.css";
import { LONGEST_NAME, whyNotNamed } from "./view";
import { useViews, viewOf } from "./views-store";

/** What is asked about views, one question at a time. */
export function ViewDialogs({ onClosed }: { onClosed: () => void }) {
  const { question, own, current, ask, saveAs, rename, remove } = useViews();
  const view = viewOf({ own, current });
  const close = () => {
    ask(null);
    onClosed();
  };
  const then = (act: () => void) => {
    act();
    onClosed();
  };
  if (question === "columns") return <ColumnsDialog onClose={close} />;
  if (question === "save-as") {
    return (
      <NameDialog
        title="Save as a new view"
        action="Save"
        name={view.shipped ? "" : view.name}
        why={(name) => whyNotNamed(name, own)}
        onName={(name) => then(() => saveAs(name))}
        onClose={close}
      />
    );
  }
  if (question === "rename") {
    return (
      <NameDialog
        title="Rename the view"
        action="Rename"
        name={view.name}
        why={(name) => whyNotNamed(name, own, view.id)}
        onName={(name) => then(() => rename(name))}
        onClose={close}
      />
    );
  }
  if (question === "delete") {
    return (
      <Window title="Delete the view" role="alertdialog" onClose={close} data-testid="view-delete-dialog">
        <p>“{visibleText(view.name)}” is deleted. What is in the deck stays as it is.</p>
        <div className={styles.actions}>
          <Button autoFocus shortcut="Esc" onPress={close}>
            Cancel
          </Button>
          <Button look="primary" onPress={() => then(remove)} data-testid="view-delete-confirm">
            Delete
          </Button>
        </div>
      </Window>
    );
  }
  return null;
}

interface NameDialogProps {
  title: string;
  action: string;
  name: string;
  why: (name: string) => string | null;
  onName: (name: string) => void;
  onClose: () => void;
}

function NameDialog({ title, action, name: before, why, onName, onClose }: NameDialogProps) {
  const [name, setName] = useState(before);
  const [problem, setProblem] = useState("");
  const id = useId();
  return (
    <Window title={title} onClose={onClose} data-testid="view-name-dialog">
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          const reason = why(name);
          if (reason === null) onName(name);
          else setProblem(reason);
        }}
      >
        <p className={styles.note}>A view holds what is filtered, sorted and grouped, and the columns.</p>
        <div className={field.field}>
          <label className={field.label} htmlFor={id}>
            Name
          </label>
          <input
            id={id}
            className={field.input}
            value={name}
            maxLength={LONGEST_NAME}
            // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus, and this is all there is to enter
            autoFocus
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setName(event.target.value)}
            data-testid="view-name"
          />
        </div>
        <p className={styles.problem} role="alert">
          {visibleText(problem)}
        </p>
        <div className={styles.actions}>
          <Button onPress={onClose} shortcut="Esc">
            Cancel
          </Button>
          <Button type="submit" look="primary" shortcut="⏎" data-testid="view-name-confirm">
            {action}
          </Button>
        </div>
      </form>
    </Window>
  );
}
