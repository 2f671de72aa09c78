import { complain, say } from "../../components/toast-store";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useActionHandlers } from "../actions/handlers";
import { useReceiptDialog } from "../batches/receipt-store";
import { returnUnfinished, takeOffline } from "../offline/offline-store";
import { useExtend } from "../offline/use-extend";
import { type SyncTab, useSync } from "../sync/sync-store";
import { useFrame } from "./frame-store";

/** What can be done with leases, with the outbox and with the window itself, from whatever screen. */
export function useSessionActions({ deck_count: deck, unsent, link, desk }: SessionView): void {
  const ipc = useIpc();
  const { extending, extend } = useExtend();
  const empty = deck === 0 ? "The deck is empty: there is no lease." : null;
  const tell = (action: Promise<unknown>) =>
    void action.catch((thrown) => complain(toCommandError(thrown).message));
  const tab = (name: SyncTab) => ({
    run: () => {
      useSync.getState().show(name);
      useFrame.getState().show("sync");
    },
  });

  const sendNow = async () => {
    await ipc.retryNow();
    say(link.online ? "What is unsent is being sent." : "The connection is being tried now.");
  };
  const latestReceipt = async () => {
    const [latest] = await ipc.batches();
    if (latest === undefined) say("Nothing has been signed on this computer yet.");
    else useReceiptDialog.getState().open(latest.batch);
  };

  useActionHandlers({
    "take-offline": { run: takeOffline, whyNot: empty },
    "extend-leases": { run: extend, whyNot: empty ?? (extending ? "They are being extended." : null) },
    "return-unfinished": { run: returnUnfinished, whyNot: empty },
    "send-now": {
      run: () => tell(sendNow()),
      whyNot: unsent === 0 ? "Nothing is unsent." : null,
    },
    "latest-receipt": { run: () => tell(latestReceipt()) },
    "sync-decisions": tab("decisions"),
    "sync-attention": tab("attention"),
    "sync-confirmations": tab("confirmations"),
    "sync-receipts": tab("receipts"),
    "go-letters": {
      run: () => useFrame.getState().show("letters"),
      whyNot: desk ? null : "You have no right to the desk of dead letters.",
    },
    "finish-and-close": { run: () => tell(ipc.drain()) },
  });
}
