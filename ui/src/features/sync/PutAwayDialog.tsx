import { Button } from "../../components/Button";
import { groupBy } from "../../components/group-by";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { OutboxRow } from "../../generated/OutboxRow";
import styles from "./Attention.module.css";

interface PutAwayDialogProps {
  rows: readonly OutboxRow[];
  onClose: () => void;
  onConfirm: () => void;
}

/** How many of what leave the list, before they do. */
export function PutAwayDialog({ rows, onClose, onConfirm }: PutAwayDialogProps) {
  const byAnswer = [...groupBy(rows, ({ outcome, message }) => message ?? outcome ?? "No reason given")];
  return (
    <Window title="Put away" onClose={onClose} role="alertdialog" data-testid="put-away-dialog">
      <p>
        {counted(rows.length, "refused decision")} {rows.length === 1 ? "leaves" : "leave"} this list. The
        database keeps the record of each; nothing is signed or released.
      </p>
      <ul className={styles.groups}>
        {byAnswer.map(([answer, some]) => (
          <li key={answer}>
            <b>{some.length}</b> <span>{visibleText(answer)}</span>
          </li>
        ))}
      </ul>
      <div className={styles.dialogActions}>
        <Button autoFocus shortcut="Esc" onPress={onClose}>
          Cancel
        </Button>
        <Button look="primary" onPress={onConfirm} data-testid="put-away-confirm">
          Put {rows.length} away
        </Button>
      </div>
    </Window>
  );
}
