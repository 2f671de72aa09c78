import { useQueryClient } from "@tanstack/react-query";
import { copyText } from "../../components/copy";
import { counted } from "../../components/plural";
import { complain, say } from "../../components/toast-store";
import type { DeckView } from "../../generated/DeckView";
import type { OutboxRow } from "../../generated/OutboxRow";
import { toCommandError, useIpc } from "../../ipc/ipc";
import type { Timed } from "../../ipc/reads";
import { useReview } from "../review/review-store";
import { moveTo } from "../review/selection";
import { useFrame } from "../shell/frame-store";
import { useViews } from "../views/views-store";
import { subject, supervisorText } from "./outbox-words";

/** What can be done with decisions that want attention. */
export function useAttention(reviewer: string | null) {
  const ipc = useIpc();
  const client = useQueryClient();
  const reread = () => void client.invalidateQueries({ queryKey: ["outbox"] });
  /** One after the other, so that the first failure stops the rest and is told with what was done. */
  const each = async (keys: readonly string[], act: (key: string) => Promise<void>, done: string) => {
    let count = 0;
    try {
      for (const key of keys) {
        await act(key);
        count += 1;
      }
      say(`${counted(count, "decision")} ${done}`);
    } catch (thrown) {
      complain(`${count} of ${keys.length} ${done}. ${toCommandError(thrown).message}`);
    }
    reread();
  };
  return {
    sendAgain: (keys: readonly string[]) => each(keys, (key) => ipc.retryDead(key), "will be sent again"),
    putAway: (keys: readonly string[]) => each(keys, (key) => ipc.dismiss(key), "put away"),
    async copy(row: OutboxRow) {
      if (await copyText(supervisorText(row, reviewer)))
        say("Copied for a supervisor: put it away once sent");
      else complain("It could not be copied: open its history, then select and copy it yourself.");
    },
    /** To the row in Review, if it is there; what is selected stays. */
    async reviewAgain(row: OutboxRow) {
      const deck = await client.fetchQuery<Timed<DeckView>>({ queryKey: ["deck"], queryFn: readDeck });
      if (!deck.value.rows.some(({ id }) => id === row.exception_id)) {
        say(`${subject(row)} is not in the deck now: it comes back when it is leased again.`);
        return;
      }
      const { select, focusGrid } = useReview.getState();
      useViews.getState().change({ trait: null, quick: "", filters: {} });
      select((now) => moveTo(now, row.exception_id));
      useFrame.getState().show("review", "elsewhere");
      // A grid that was asleep draws its rows after this.
      requestAnimationFrame(focusGrid);
    },
  };

  async function readDeck(): Promise<Timed<DeckView>> {
    const askedAtMs = performance.now();
    return { value: await ipc.deck(), askedAtMs };
  }
}
