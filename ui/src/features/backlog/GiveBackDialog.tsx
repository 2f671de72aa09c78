import { Button } from "../../components/Button";
import { counted } from "../../components/plural";
import { shortened } from "../../components/shortened";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import styles from "./FocusPanel.module.css";
import type { Question } from "./use-focus-change";

interface GiveBackDialogProps {
  question: Question;
  onKeep: () => void;
  onGiveBack: () => void;
}

/** Whether what was not decided goes back to colleagues, after a focus was set or left. */
export function GiveBackDialog({ question, onKeep, onGiveBack }: GiveBackDialogProps) {
  const count = question.kind === "outside" ? question.count : question.ids.length;
  const some = counted(count, "undecided exception");
  const are = count === 1 ? "is" : "are";
  const them = count === 1 ? "it" : "them";
  return (
    <Window
      title={question.kind === "outside" ? "Focus set" : "Focus left"}
      onClose={onKeep}
      data-testid="give-back"
    >
      <p className={styles.words}>
        {question.kind === "outside"
          ? `${some} of the deck ${are} outside of “${shortened(visibleText(question.label))}”.`
          : `${some} of the deck ${are} left from “${shortened(visibleText(question.label))}”.`}{" "}
        Keep {them} to decide, or give {them} back, so that a colleague can. Partitions go back whole.
      </p>
      <div className={styles.actions}>
        <Button autoFocus onPress={onKeep} data-testid="keep">
          Keep {count}
        </Button>
        <Button look="primary" onPress={onGiveBack} data-testid="give-back-confirm">
          Give {count} back
        </Button>
      </div>
    </Window>
  );
}
