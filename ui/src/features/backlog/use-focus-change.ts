import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { counted } from "../../components/plural";
import { shortened } from "../../components/shortened";
import { complain, say } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import type { Focus } from "../../generated/Focus";
import type { FocusView } from "../../generated/FocusView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useRecentFoci } from "./recent-foci";

/** What is asked once a focus was set or left: whether undecided exceptions go back. */
export type Question =
  | { kind: "outside"; focus: Focus; label: string; count: number }
  | { kind: "left"; label: string; ids: readonly string[] };

/** Sets and leaves the focus, and finds out what to ask about it. */
export function useFocusChange() {
  const ipc = useIpc();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [question, ask] = useState<Question | null>(null);

  const run = async (act: () => Promise<void>) => {
    setBusy(true);
    try {
      await act();
    } catch (thrown) {
      complain(toCommandError(thrown).message);
    }
    setBusy(false);
    for (const key of ["session", "deck", "backlog"]) void client.invalidateQueries({ queryKey: [key] });
  };
  const keep = (view: FocusView) => client.setQueryData(["focus"], view);

  return {
    busy,
    question,
    close: () => ask(null),
    set: (focus: Focus) =>
      run(async () => {
        const view = await ipc.setFocus(focus, false);
        keep(view);
        useRecentFoci.getState().remember({ label: view.label, focus });
        if (view.outside > 0) ask({ kind: "outside", focus, label: view.label, count: view.outside });
        else say(`Focus: ${shortened(visibleText(view.label))}`);
      }),
    leave: (label: string) =>
      run(async () => {
        const ids = (await ipc.deck()).rows.map(({ id }) => id);
        keep(await ipc.setFocus(null, false));
        if (ids.length > 0) ask({ kind: "left", label, ids });
        else say("The focus was left: the deck takes everything that you may sign.");
      }),
    askOutside: (focus: Focus, view: FocusView) =>
      ask({ kind: "outside", focus, label: view.label, count: view.outside }),
    giveBack: (asked: Question) =>
      run(async () => {
        ask(null);
        if (asked.kind === "outside") {
          keep(await ipc.setFocus(asked.focus, true));
          say(`What was outside of ${shortened(visibleText(asked.label))} is given back.`);
        } else {
          say(`${counted(await ipc.release(asked.ids), "exception")} given back`);
        }
      }),
  };
}
