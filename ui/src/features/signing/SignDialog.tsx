import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { PolicyView } from "../../generated/PolicyView";
import { type Batch, useReview } from "../review/review-store";
import { Attestation } from "./Attestation";
import { Effects } from "./Effects";
import { FrozenList } from "./FrozenList";
import { LeaveOut } from "./LeaveOut";
import { Preflight } from "./Preflight";
import styles from "./SignDialog.module.css";
import { Statement } from "./Statement";
import { TypedTotals } from "./TypedTotals";
import type { Draft } from "./use-draft";
import { useSigning } from "./use-signing";
import { Warnings } from "./Warnings";

interface SignDialogProps {
  batch: Batch;
  /** In force as last heard of; without one nothing can be signed. */
  policy: PolicyView | null;
  /** Reason and comment that came with the batch. */
  brought?: Draft | null;
  /** Called when the batch is signed, and when the dialog is left without. */
  onClose?: () => void;
}

/** The last look before a batch is signed: what will become of it, what it adds up to, and why. A failure keeps what was entered. */
export function SignDialog({ batch, policy, brought = null, onClose }: SignDialogProps) {
  const closeDialog = useReview((state) => state.closeDialog);
  const close = onClose ?? closeDialog;
  const signing = useSigning({ batch, policy, brought, onClose: close });
  const { list, view, rejects, missing, busy, sign } = signing;
  const attestation = view?.attestation ?? policy?.attestation;
  return (
    <Window
      title={`${rejects ? "Reject" : "Approve"} ${list.counted?.count ?? list.ids.length}`}
      wide
      onClose={busy ? undefined : close}
      data-testid="sign-dialog"
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void sign();
        }}
        // Before the buttons, which would take Enter for a press of their own.
        onKeyDownCapture={(event) => {
          // An opened list is drawn elsewhere, and its keys are its own.
          if (busy || !event.currentTarget.contains(event.target as Node)) return;
          const signs = event.key === "Enter" && (event.ctrlKey || event.metaKey);
          // By its place on the keyboard: with Alt some layouts write another character.
          const leavesOut = event.altKey && event.code === "KeyL";
          if (!signs && !leavesOut) return;
          event.preventDefault();
          event.stopPropagation();
          if (signs) void sign();
          else signing.leaveOut();
        }}
      >
        <Preflight view={view ?? null} problem={list.preflight.error?.message ?? null} />
        <LeaveOut
          refused={signing.refused}
          split={list.counted?.split_groups.length ?? 0}
          leftOut={list.leftOut.size}
          onLeaveOut={signing.leaveOut}
          onPutBack={list.putBack}
        />
        <Warnings warnings={view?.warnings ?? []} />
        <FrozenList asked={list.ids.length} totals={list.counted ?? null} />
        <Effects {...signing.figures} />
        <TypedTotals {...signing.typing} />
        <Statement rejects={rejects} reasons={policy?.reason_codes ?? []} writing={signing.writing} />
        {attestation !== undefined && (
          <Attestation
            text={attestation}
            policy={view?.policy_version ?? policy?.version ?? 0}
            asOf={view?.as_of ?? policy?.as_of ?? ""}
          />
        )}
        <div className={styles.foot}>
          <p className={styles.problem} role="alert" data-testid="sign-error">
            {visibleText(signing.problem ?? "")}
          </p>
          <div className={styles.actions}>
            <span className={styles.missing}>{missing}</span>
            <Button onPress={close} isDisabled={busy} shortcut="Esc">
              Cancel
            </Button>
            <Button
              type="submit"
              look="primary"
              shortcut="Ctrl ⏎"
              isDisabled={missing !== null}
              isBusy={busy}
              data-testid="sign-confirm"
            >
              {busy ? "Signing…" : signing.words}
            </Button>
          </div>
        </div>
      </form>
    </Window>
  );
}
