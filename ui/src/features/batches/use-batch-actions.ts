import { useQueryClient } from "@tanstack/react-query";
import { complain, say } from "../../components/toast-store";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { undoWords } from "../review/words";

/** What can be done with a confirmation after its undo window. */
export function useBatchActions() {
  const ipc = useIpc();
  const client = useQueryClient();
  return {
    /** Takes back what was never sent; it is in the deck again. */
    async takeBack(batch: string) {
      try {
        const { withdrawn, too_late } = await ipc.cancelUnsent(batch);
        say(undoWords(withdrawn, too_late));
      } catch (thrown) {
        complain(toCommandError(thrown).message);
      }
      for (const key of ["deck", "outbox", "batches", "batch"]) {
        void client.invalidateQueries({ queryKey: [key] });
      }
    },
  };
}
