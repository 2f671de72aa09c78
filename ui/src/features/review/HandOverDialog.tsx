import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../../components/Button";
import field from "../../components/field.module.css";
import { counted } from "../../components/plural";
import { say } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { SelectionTotals } from "../../generated/SelectionTotals";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useTotals } from "../../ipc/reads";
import styles from "./HandOverDialog.module.css";
import { type HandOver, useReview } from "./review-store";
import { clear } from "./selection";

/** To whom the selection goes, and what goes with it. */
export function HandOverDialog({ handOver }: { handOver: HandOver }) {
  const ipc = useIpc();
  const client = useQueryClient();
  const { closeDialog, select } = useReview();
  const totals = useTotals(`hand over ${handOver.opening}`, handOver.ids);
  const [to, setTo] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const loginId = useId();
  const goes = totals.isPlaceholderData ? undefined : totals.data;

  const submit = async () => {
    if (busy) return;
    if (to.trim() === "") return setProblem("Enter the login of the colleague.");
    setBusy(true);
    setProblem("");
    try {
      const { message } = await ipc.handOver(handOver.ids, to.trim());
      select(clear);
      closeDialog();
      say(message);
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
      setBusy(false);
    }
    void client.invalidateQueries({ queryKey: ["deck"] });
  };

  return (
    <Window
      title={handOver.purpose === "escalate" ? "Escalate to…" : "Hand over"}
      onClose={busy ? undefined : closeDialog}
      data-testid="hand-over-dialog"
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p className={styles.goes} data-testid="hand-over-goes">
          {goes === undefined ? "Counting…" : goesWords(goes)}
        </p>
        <div className={field.field}>
          <label className={field.label} htmlFor={loginId}>
            Login of the colleague
          </label>
          <input
            id={loginId}
            className={field.input}
            value={to}
            // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus, and this is all there is to enter
            autoFocus
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            onChange={(event) => setTo(event.target.value)}
            data-testid="hand-over-to"
          />
        </div>
        <p className={styles.problem} role="alert" data-testid="hand-over-error">
          {visibleText(problem || (totals.error?.message ?? ""))}
        </p>
        <div className={styles.actions}>
          <Button onPress={closeDialog} isDisabled={busy} shortcut="Esc">
            Cancel
          </Button>
          <Button type="submit" look="primary" shortcut="⏎" isBusy={busy} data-testid="hand-over-confirm">
            {busy ? "Handing over…" : handOver.purpose === "escalate" ? "Escalate" : "Hand over"}
          </Button>
        </div>
      </form>
    </Window>
  );
}

function goesWords({ count, partitions, with_partitions: all }: SelectionTotals): string {
  const more = all === count ? "" : `, ${all - count} more than you selected`;
  const go = all === 1 ? "goes" : "go";
  return `${counted(all, "exception")} of the deck in ${counted(partitions, "partition")} ${go} to the colleague${more}: a partition goes whole.`;
}
