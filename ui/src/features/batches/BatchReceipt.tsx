import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { instantText } from "../../components/clock";
import { visibleLines, visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { BatchView } from "../../generated/BatchView";
import { useBatch } from "../../ipc/reads";
import { useReview } from "../review/review-store";
import styles from "./BatchReceipt.module.css";
import { sumWords } from "./parts";
import { ReceiptSum } from "./ReceiptSum";
import { ReceiptTotals } from "./ReceiptTotals";
import { useReceiptDialog } from "./receipt-store";
import { SaveReceipt } from "./SaveReceipt";
import { useBatchActions } from "./use-batch-actions";

const HASH_SHOWN = 16;

/** The receipt that was asked for last, in a dialog of its own over whatever screen. */
export function BatchReceipt() {
  const batch = useReceiptDialog((state) => state.batch);
  const close = useReceiptDialog((state) => state.close);
  if (batch === null) return null;
  const leave = () => {
    close();
    // The button in the toast may have left with its toast; the focus must not fall out of the window.
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) useReview.getState().focusGrid();
    });
  };
  return (
    <Window title="Receipt" wide onClose={leave} data-testid="batch-receipt">
      <Receipt key={batch} batch={batch} onClose={leave} />
    </Window>
  );
}

/** It follows the outbox: what is answered while it is open moves from waiting to its place. */
function Receipt({ batch, onClose }: { batch: string; onClose: () => void }) {
  const { data: view, error } = useBatch(batch);
  return (
    <div className={styles.receipt}>
      {view === undefined ? (
        <p className={styles.none} role={error === null ? "status" : "alert"}>
          {error === null ? "Reading…" : `The receipt cannot be read: ${visibleText(error.message)}`}
        </p>
      ) : (
        <Body view={view} />
      )}
      <SaveReceipt batch={batch} onClose={onClose} />
    </div>
  );
}

function Body({ view }: { view: BatchView }) {
  const { takeBack } = useBatchActions();
  const { row } = view;
  return (
    <>
      <p className={styles.sub}>
        {row.decision === "APPROVE" ? "Approved" : "Rejected"} {instantText(row.decided_at, Date.now())} by
        this workstation’s clock
      </p>
      <ReceiptSum view={view} />
      <ReceiptTotals view={view} />
      {row.unsent > 0 && (
        <div className={styles.actions}>
          <span className={styles.sub}>{row.unsent} not sent yet; they are sent by themselves.</span>
          <Button onPress={() => void takeBack(row.batch)} data-testid="receipt-take-back">
            Take back what is not sent
          </Button>
        </div>
      )}
      <dl className={styles.facts}>
        {view.reason !== null && (
          <>
            <dt>Reason</dt>
            <dd>{visibleText(view.reason)}</dd>
          </>
        )}
        {view.comment !== null && (
          <>
            <dt>Comment</dt>
            <dd className={styles.long}>{visibleLines(view.comment)}</dd>
          </>
        )}
        <dt>Attested</dt>
        <dd className={styles.long}>
          {visibleText(view.attestation)} (policy {view.policy_version})
        </dd>
        <dt>Hash total</dt>
        <dd className={styles.hash}>
          <span title={view.hash_total}>{view.hash_total.slice(0, HASH_SHOWN)}…</span>
          <CopyButton what="hash total" text={view.hash_total} />
        </dd>
        <dt>Database receipts</dt>
        <dd data-testid="receipt-numbers">
          {view.receipts.length === 0 ? "none yet" : visibleText(view.receipts.join(", "))}
        </dd>
      </dl>
      {/* Told to who cannot see the line change. */}
      <p className={styles.spoken} aria-live="polite">
        {sumWords(row)}
      </p>
    </>
  );
}
