import { useQueryClient } from "@tanstack/react-query";
import { complain, say, useToasts } from "../../components/toast-store";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { type Signed, useReview } from "./review-store";
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
    /** Withdraws `signed`, by default the latest signature. */
    async undo(signed: Signed | null = useReview.getState().signed) {
      const { signed: latest, keepSigned, focusGrid } = useReview.getState();
      if (signed === null || signed.endsAtMs < performance.now())
        return say("There is nothing to undo any more.");
      if (latest?.batch === signed.batch) keepSigned(null);
      useToasts.getState().dismiss(signed.toast);
      // The button that was pressed leaves with its toast.
      focusGrid();
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
