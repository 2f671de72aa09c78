import { Button } from "../../components/Button";
import { Window } from "../../components/Window";
import styles from "./BlockedDialog.module.css";
import { useReview } from "./review-store";

/**
 * Stands where the dialog that was asked for would be, so that what is typed for that one is no shortcut of the grid. No button of it
 * has the focus: Space and Enter are typed as well.
 */
export function BlockedDialog() {
  const reason = useReview((state) => state.blockedBy);
  const close = useReview((state) => state.closeDialog);
  if (reason === null) return null;
  return (
    <Window title="It cannot be done yet" role="alertdialog" onClose={close} data-testid="blocked-dialog">
      <p role="alert">{reason}</p>
      <div className={styles.actions}>
        <Button onPress={close} shortcut="Esc" data-testid="blocked-close">
          Back to the grid
        </Button>
      </div>
    </Window>
  );
}
