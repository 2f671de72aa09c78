import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import panel from "../../components/panel.module.css";
import { counted } from "../../components/plural";
import { say } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import type { LeavingReason } from "../../generated/LeavingReason";
import type { LeavingView } from "../../generated/LeavingView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { ExportStep } from "./ExportStep";
import styles from "./LeavingPanel.module.css";
import { RemoveStep } from "./RemoveStep";

const TITLES: Record<LeavingReason, string> = {
  REVOKED: "This workstation was revoked",
  SIGNED_OUT: "You have signed out",
};

/** What is left on this computer, how to take it along, and how to remove it. */
export function LeavingPanel({ leaving }: { leaving: LeavingView }) {
  const ipc = useIpc();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { profile, unsent } = leaving;

  const act = async (action: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await action();
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
    }
    setBusy(false);
    void client.invalidateQueries({ queryKey: ["session"] });
  };
  const remove = (acknowledged: string | null) =>
    act(async () => say((await ipc.removeEverything(profile, acknowledged)).message));

  return (
    <section className={panel.panel} aria-labelledby="leaving-title" data-testid="leaving">
      <h2 id="leaving-title" className={panel.title}>
        {TITLES[leaving.reason]}
      </h2>
      <p>{visibleText(leaving.message)}</p>
      <p className={styles.unsent} data-testid="leaving-unsent">
        {unsent === 0
          ? "No unsent decision is on this computer."
          : `${counted(unsent, "unsent decision")} ${unsent === 1 ? "is" : "are"} still here, encrypted.`}
      </p>
      {unsent > 0 && (
        <ExportStep
          found={leaving.export}
          busy={busy}
          onExport={() => void act(async () => void (await ipc.exportOutbox(profile)))}
        />
      )}
      <RemoveStep
        // Another export asks for another look.
        key={leaving.export?.sha256 ?? ""}
        profile={profile}
        unsent={unsent}
        found={leaving.export}
        busy={busy}
        onRemove={(acknowledged) => void remove(acknowledged)}
      />
      <p className={panel.problem} role="alert" data-testid="leaving-error">
        {visibleText(problem ?? "")}
      </p>
    </section>
  );
}
