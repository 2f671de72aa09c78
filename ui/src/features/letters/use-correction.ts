import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { say } from "../../components/toast-store";
import type { LetterView } from "../../generated/LetterView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { type Draft, draftOf, fixOf, isChanged } from "./letter-draft";
import { useLetterDesk } from "./letters-store";

/** The correction of one letter. What is written stays until it is saved or dropped, whatever is looked at meanwhile. */
export function useCorrection(view: LetterView) {
  const ipc = useIpc();
  const client = useQueryClient();
  const { id } = view.row;
  const kept = useLetterDesk((state) => state.drafts.get(id));
  const { draft: keep, edit, focusRows } = useLetterDesk.getState();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const draft = kept ?? draftOf(view);
  const changed = isChanged(draft, view);
  const conflict = draft.revision !== view.revision;

  const leave = () => {
    edit(null);
    focusRows();
  };
  const change = (after: Draft) => {
    setProblem(null);
    // A choice between fields and text is kept too; what is neither written nor chosen is not.
    const same = after.edits.size === 0 && (after.body === null) === (draftOf(view).body === null);
    keep(id, same && !isChanged(after, view) ? null : after);
  };
  const save = async () => {
    if (busy || !changed || conflict) return;
    setBusy(true);
    setProblem(null);
    try {
      const after = await ipc.fixLetter(fixOf(id, draft));
      keep(id, null);
      client.setQueryData(["letter", id], after);
      say("The correction is kept: rehearse it to see what would become of it now.");
      leave();
    } catch (thrown) {
      const { code, message } = toCommandError(thrown);
      setProblem(message);
      // What was written stays; what somebody else wrote is read, and both are shown.
      if (code === "REVISION_CONFLICT") await client.invalidateQueries({ queryKey: ["letter", id] });
    }
    setBusy(false);
    void client.invalidateQueries({ queryKey: ["letters"] });
  };
  const drop = () => {
    setProblem(null);
    keep(id, null);
  };
  return { draft, conflict, problem, busy, changed, change, save, leave, drop };
}
