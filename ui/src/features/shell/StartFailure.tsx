import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import type { CommandError } from "../../generated/CommandError";
import styles from "./StartFailure.module.css";

/** Nothing can be shown without a session, so this is the whole window. */
export function StartFailure({ error, onRetry }: { error: CommandError; onRetry: () => void }) {
  return (
    <main className={styles.page} role="alert">
      <h1>Countersign cannot start</h1>
      <p>{visibleText(error.message)}</p>
      <Button look="primary" onPress={onRetry}>
        Try again
      </Button>
    </main>
  );
}
