import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../../components/Button";
import { Choice } from "../../components/Choice";
import field from "../../components/field.module.css";
import { useToasts } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { PolicyView } from "../../generated/PolicyView";
import type { PreflightView } from "../../generated/PreflightView";
import type { SelectionTotals } from "../../generated/SelectionTotals";
import type { SignReceipt } from "../../generated/SignReceipt";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { usePreflight, useTotals } from "../../ipc/reads";
import { Attestation } from "./Attestation";
import { Preflight } from "./Preflight";
import { type Batch, useReview } from "./review-store";
import styles from "./SignDialog.module.css";
import { clear } from "./selection";
import { TotalsTable } from "./TotalsTable";
import { useDeckActions } from "./use-deck-actions";

const COMMENT_MAX = 2_000;

interface SignDialogProps {
  batch: Batch;
  /** In force as last heard of; without one nothing can be signed. */
  policy: PolicyView | null;
}

/** The last look before a batch is signed: what it adds up to, and why. A failure keeps everything that was entered. */
export function SignDialog({ batch, policy }: SignDialogProps) {
  const ipc = useIpc();
  const client = useQueryClient();
  const actions = useDeckActions();
  const { closeDialog, keepSigned, select } = useReview();
  const totals = useTotals(`dialog ${batch.opening}`, batch.ids);
  const preflight = usePreflight(`dialog ${batch.opening}`, batch.ids, batch.decision);
  const [reason, setReason] = useState<string | null>(null);
  const [comment, setComment] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [signing, setSigning] = useState(false);
  const commentId = useId();
  const rejects = batch.decision === "REJECT";
  // What an earlier selection added up to is not what is signed here.
  const counted = totals.isPlaceholderData ? undefined : totals.data;
  const missing = counted === undefined ? "Counting…" : whyIncomplete(rejects, reason, counted);

  const announce = ({ batch: name, count, undo_ms }: SignReceipt, askedAtMs: number) => {
    const { show } = useToasts.getState();
    if (undo_ms === 0) {
      show({ text: `Signed ${count}` });
      return;
    }
    const endsAtMs = askedAtMs + undo_ms;
    const action = { label: "Undo", run: () => void actions.undo(signed) };
    const signed = { batch: name, endsAtMs, toast: show({ text: `Signed ${count}`, endsAtMs, action }) };
    keepSigned(signed);
  };

  const sign = async () => {
    if (signing || counted === undefined || missing !== null) return;
    setSigning(true);
    setProblem(null);
    const askedAtMs = performance.now();
    try {
      const gone = new Set(counted.missing);
      const receipt = await ipc.sign({
        ids: batch.ids.filter((id) => !gone.has(id)),
        decision: batch.decision,
        reason,
        comment: comment.trim() === "" ? null : comment.trim(),
        hash_total: counted.hash_total,
      });
      select(clear);
      closeDialog();
      announce(receipt, askedAtMs);
      for (const key of ["deck", "outbox", "session"]) void client.invalidateQueries({ queryKey: [key] });
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
      setSigning(false);
      // The usual cause is a deck that changed meanwhile; the reviewer sees the new totals before the next attempt.
      void totals.refetch();
    }
  };

  return (
    <Window
      title={`${rejects ? "Reject" : "Approve"} ${counted?.count ?? batch.ids.length}`}
      wide
      onClose={signing ? undefined : closeDialog}
      data-testid="sign-dialog"
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void sign();
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void sign();
        }}
      >
        <TotalsTable totals={counted?.totals ?? []} />
        {counted !== undefined && counted.missing.length > 0 && (
          <p className={styles.left}>
            {counted.missing.length} of {batch.ids.length} left the deck meanwhile and will not be signed.
          </p>
        )}
        <Choice
          label={rejects ? "Reason" : "Reason (optional)"}
          options={(policy?.reason_codes ?? []).map(({ code, label }) => ({
            id: code,
            label: visibleText(label),
          }))}
          value={reason}
          onChange={setReason}
          placeholder="Choose a reason"
          autoFocus={rejects}
          data-testid="sign-reason"
        />
        <div className={field.field}>
          <label className={field.label} htmlFor={commentId}>
            Comment (optional)
          </label>
          <textarea
            id={commentId}
            className={`${field.input} ${field.area}`}
            rows={3}
            maxLength={COMMENT_MAX}
            value={comment}
            // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus, and a button would sign on a stray Space
            autoFocus={!rejects}
            onChange={(event) => setComment(event.target.value)}
            data-testid="sign-comment"
          />
        </div>
        <Preflight view={preflight.data ?? null} problem={preflight.error?.message ?? null} />
        {policy !== null && <Attestation policy={policy} />}
        <p className={styles.problem} role="alert" data-testid="sign-error">
          {visibleText(problem ?? totals.error?.message ?? "")}
        </p>
        <div className={styles.actions}>
          <span className={styles.missing}>{missing}</span>
          <Button onPress={closeDialog} isDisabled={signing} shortcut="Esc">
            Cancel
          </Button>
          <Button
            type="submit"
            look="primary"
            shortcut="Ctrl ⏎"
            isDisabled={signing || missing !== null}
            data-testid="sign-confirm"
          >
            {signing ? "Signing…" : confirmWords(rejects, counted?.count ?? null, preflight.data)}
          </Button>
        </div>
      </form>
    </Window>
  );
}

/** What has to be done before the batch can be signed, or `null`. */
function whyIncomplete(rejects: boolean, reason: string | null, totals: SelectionTotals): string | null {
  if (totals.count === 0) return "Nothing of it is in the deck any more.";
  if (totals.split_groups.length > 0) return "A group is split: cancel, and select the whole group.";
  if (rejects && reason === null) return "A rejection carries a reason.";
  return null;
}

/** What is foreseen to be refused does not stand in the way: the database decides. */
function confirmWords(rejects: boolean, count: number | null, preflight: PreflightView | undefined): string {
  const refused = preflight?.refused ?? 0;
  const what = `${rejects ? "Reject" : "Approve"} ${count ?? ""}`;
  return refused === 0 ? what : `${what} · ${refused} will be refused`;
}
