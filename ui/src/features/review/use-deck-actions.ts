import { useQueryClient } from "@tanstack/react-query";
import { complain, say, useToasts } from "../../components/toast-store";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useReview } from "./review-store";
import { clear } from "./selection";
import { undoWords } from "./words";

/** What can be done with the deck without a dialog. */
export function useDeckActions() {
  const ipc = useIpc();
  const client = useQueryClient();
  return {
    async release(ids: readonly string[]) {
      try {
        const count = await ipc.release(ids);
        useReview.getState().select(clear);
        say(`${count} given back`);
      } catch (thrown) {
        complain(toCommandError(thrown).message);
      }
      void client.invalidateQueries({ queryKey: ["deck"] });
    },
    async undo() {
      const { signed, keepSigned } = useReview.getState();
      if (signed === null || signed.endsAtMs < performance.now())
        return say("There is nothing to undo any more.");
      keepSigned(null);
      useToasts.getState().dismiss(signed.toast);
      try {
        const { withdrawn, too_late } = await ipc.undo(signed.batch);
        say(undoWords(withdrawn, too_late));
      } catch (thrown) {
        complain(toCommandError(thrown).message);
      }
      void client.invalidateQueries({ queryKey: ["deck"] });
    },
  };
}
