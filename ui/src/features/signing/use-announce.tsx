import { useQueryClient } from "@tanstack/react-query";
import { PLAIN_MS, useToasts } from "../../components/toast-store";
import type { SessionView } from "../../generated/SessionView";
import type { SignReceipt } from "../../generated/SignReceipt";
import type { Timed } from "../../ipc/reads";
import { BatchProgress } from "../batches/BatchProgress";
import { useReceiptDialog } from "../batches/receipt-store";
import { type Signed, useReview } from "../review/review-store";
import { useDeckActions } from "../review/use-deck-actions";

/** Fewer are answered before a progress could be read. */
const PROGRESS_FROM = 200;

/** Says that a batch is signed: with Undo for as long as it can be undone, its receipt, and its progress where that takes a while. */
export function useAnnounce() {
  const client = useQueryClient();
  const actions = useDeckActions();
  return ({ batch, count, undo_ms }: SignReceipt, askedAtMs: number) => {
    const { show, change } = useToasts.getState();
    const session = client.getQueryData<Timed<SessionView>>(["session"]);
    const takesAWhile = count >= PROGRESS_FROM || session?.value.link.online === false;
    const undoEndsAtMs = askedAtMs + undo_ms;
    const undo = { label: "Undo", run: () => void actions.undo(signed) };
    const toast = show({
      text: `Signed ${count}`,
      action: undo_ms === 0 ? null : undo,
      actionEndsAtMs: undoEndsAtMs,
      more: { label: "Receipt", run: () => useReceiptDialog.getState().open(batch) },
      endsAtMs: takesAWhile ? null : undoEndsAtMs + PLAIN_MS,
    });
    const signed: Signed = { batch, endsAtMs: undoEndsAtMs, toast };
    if (undo_ms > 0) useReview.getState().keepSigned(signed);
    if (takesAWhile) {
      const onDone = () => change(toast, { content: null, endsAtMs: performance.now() + PLAIN_MS });
      change(toast, { content: <BatchProgress batch={batch} count={count} onDone={onDone} /> });
    }
  };
}
