import { copyText } from "../../components/copy";
import { complain, say } from "../../components/toast-store";
import type { DeskView } from "../../generated/DeskView";
import type { LetterRow } from "../../generated/LetterRow";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useActionHandlers } from "../actions/handlers";
import { clear, selectShown, toggle } from "../review/selection";
import { letterText } from "./letter-text";
import { useLetterDesk } from "./letters-store";
import { useLetterCalls } from "./use-letter-calls";

interface LetterActions {
  view: DeskView;
  /** What the filter shows. */
  rows: readonly LetterRow[];
  /** What is selected of it. */
  chosen: readonly LetterRow[];
  current: LetterRow | null;
  onRefresh: () => void;
}

/** What the keys, the buttons and the palette do at the desk: with what is selected and shown, or with the row of the keyboard. */
export function useLetterActions({ view, rows, chosen, current, onRefresh }: LetterActions) {
  const ipc = useIpc();
  const calls = useLetterCalls();
  const { select, ask, edit, showDone, done, cause } = useLetterDesk();
  const subjects = chosen.length > 0 ? chosen : current === null ? [] : [current];
  const ids = subjects.map(({ id }) => id);
  const none = ids.length === 0 ? "No letter is selected." : null;
  const finished = ({ status }: LetterRow) => status === "REPLAYED" || status === "DISCARDED";
  const over = none ?? (subjects.every(finished) ? "Nothing is to be done any more: it is done." : null);

  const fix = async () => {
    if (current === null) return;
    // Who corrects a letter works on it.
    if (!current.mine) {
      const [answer] = await calls.takeQuietly([current.id]);
      if (answer?.passes !== true) return;
    }
    edit(current.id);
  };
  const copy = async () => {
    if (current === null) return;
    try {
      const text = letterText(await ipc.letter(current.id));
      if (await copyText(text)) say("Copied the letter");
      else complain("The letter could not be copied: select its text and copy it yourself.");
    } catch (thrown) {
      complain(toCommandError(thrown).message);
    }
  };
  const letters = { kind: "replay", ids, more: 0 } as const;

  useActionHandlers({
    toggle: {
      run: () => current !== null && select((now) => toggle(now, current.id)),
      whyNot: current === null ? "There is no letter here." : null,
    },
    "select-shown": {
      run: () =>
        select((now) =>
          selectShown(
            now,
            rows.map(({ id }) => id),
          ),
        ),
    },
    clear: { run: () => select(clear) },
    filter: { run: focusFilter },
    "letter-take": { run: () => void calls.take(ids), whyNot: over },
    "letter-put-back": {
      run: () => void calls.putBack(ids),
      whyNot: over ?? (subjects.some(({ mine }) => mine) ? null : "None of it is taken by you."),
    },
    "letter-fix": { run: () => void fix(), whyNot: whyNoFix(current) },
    "letter-rehearse": { run: () => ask({ ...letters, kind: "rehearse" }), whyNot: over },
    "letter-replay": { run: () => ask(letters), whyNot: over },
    "letter-replay-cause": {
      run: () => ask({ kind: "replay", ids: view.letters.map(({ id }) => id), more: view.more }),
      whyNot:
        cause === null
          ? "Choose a cause first."
          : view.letters.length === 0
            ? "Nothing is left of this cause."
            : null,
    },
    "letter-discard": { run: () => ask({ kind: "discard", ids }), whyNot: over },
    "letter-copy": {
      run: () => void copy(),
      whyNot: current === null ? "There is no letter here." : null,
    },
    "letter-causes": { run: focusCauses },
    "letters-done": { run: () => showDone(!done) },
    "letters-refresh": { run: onRefresh },
  });
}

function whyNoFix(row: LetterRow | null): string | null {
  if (row === null) return "There is no letter here.";
  if (row.status === "REPLAYED" || row.status === "DISCARDED")
    return "It is done: nothing can be corrected in it.";
  if (row.status === "TAKEN" && !row.mine) return `${row.status_words}: nobody else corrects it meanwhile.`;
  if (row.cause === "SCORING" || row.cause === "SIGN_OFF") {
    return "It is no arrival: nothing can be corrected in it.";
  }
  if (row.status === "DISCARDING") return "It waits to be discarded: put it back first.";
  return null;
}

function focusFilter() {
  const field = document.querySelector<HTMLInputElement>('[data-testid="letters-filter"]');
  field?.focus();
  field?.select();
}

function focusCauses() {
  document.querySelector<HTMLElement>('[data-testid="causes"] [tabindex="0"]')?.focus();
}
