import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/Button";
import { counted } from "../../components/plural";
import { say } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useDeck } from "../../ipc/reads";
import { useReview } from "../review/review-store";
import styles from "./Offline.module.css";
import { Options } from "./Options";
import { useOffline } from "./offline-store";
import { unfinished } from "./unfinished";

/** Gives back what the reviewer will not get to, so that a colleague can. */
export function ReturnDialog() {
  const ipc = useIpc();
  const client = useQueryClient();
  const close = useOffline((state) => state.close);
  const selected = useReview((state) => state.selection.selected);
  const deck = useDeck();
  const rows = deck.data?.value.rows ?? [];
  const rest = unfinished(rows, selected);
  const some = rows.length - rest.ids.length - rest.kept;
  const [chosen, choose] = useState(some > 0 && rest.ids.length > 0 ? "rest" : "all");
  const [returning, setReturning] = useState(false);
  const [problem, setProblem] = useState("");
  const ids = chosen === "rest" ? rest.ids : rows.map(({ id }) => id);

  const giveBack = async () => {
    setReturning(true);
    setProblem("");
    try {
      const count = await ipc.release(ids);
      void client.invalidateQueries({ queryKey: ["deck"] });
      say(`${counted(count, "exception")} given back`);
      close();
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
      setReturning(false);
    }
  };

  return (
    <Window title="Return what I won’t finish" onClose={close} data-testid="return-dialog">
      <Options
        label="What goes back to your colleagues?"
        value={chosen}
        onChange={choose}
        rows={[
          {
            id: "rest",
            label: "Everything I have not selected",
            note:
              some === 0
                ? "nothing is selected in Review"
                : `${rest.ids.length} go, ${some + rest.kept} stay`,
            disabled: some === 0 || rest.ids.length === 0,
          },
          {
            id: "all",
            label: "Everything undecided",
            note: rows.length === 0 ? "the deck is empty" : `${rows.length} go, 0 stay`,
            disabled: rows.length === 0,
          },
        ]}
      />
      <p className={styles.note}>
        {chosen === "rest" && rest.kept > 0
          ? `${rest.kept} of those that stay ${rest.kept === 1 ? "is" : "are"} not selected: a partition goes back whole or not at all.`
          : "What you have signed is not touched."}
      </p>
      <p className={styles.problem} role="alert">
        {visibleText(problem)}
      </p>
      <div className={styles.actions}>
        <Button shortcut="Esc" onPress={close}>
          Cancel
        </Button>
        <Button
          look="primary"
          isDisabled={ids.length === 0}
          isBusy={returning}
          onPress={() => void giveBack()}
          data-testid="return-confirm"
        >
          Return {ids.length}
        </Button>
      </div>
    </Window>
  );
}
