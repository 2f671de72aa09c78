import { Button } from "../../components/Button";
import { counted } from "../../components/plural";
import styles from "./SignDialog.module.css";

interface LeaveOutProps {
  refused: number;
  /** Items of a group of which others were left out. */
  split: number;
  leftOut: number;
  onLeaveOut: () => void;
  onPutBack: () => void;
}

/** What will be refused can stay in the deck, selected, instead of being signed in vain. */
export function LeaveOut({ refused, split, leftOut, onLeaveOut, onPutBack }: LeaveOutProps) {
  if (refused === 0 && leftOut === 0) return null;
  const more = leftOut > 0 && split > 0;
  return (
    <div className={styles.leaveOut} data-testid="leave-out-bar">
      {leftOut > 0 && (
        <>
          <span data-testid="left-out">{counted(leftOut, "exception")} left out; they stay selected.</span>
          <Button look="quiet" onPress={onPutBack} data-testid="put-back">
            Put back
          </Button>
        </>
      )}
      {(refused > 0 || more) && (
        <Button shortcut="Alt L" onPress={onLeaveOut} data-testid="leave-out">
          {refused > 0
            ? `Leave out ${refused} that will be refused`
            : `Leave out the ${split} others of their groups too`}
        </Button>
      )}
    </div>
  );
}
