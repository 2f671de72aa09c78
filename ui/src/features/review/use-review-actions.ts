import { copyText } from "../../components/copy";
import { complain, PATH_MS, say, useToasts } from "../../components/toast-store";
import type { DeckRow } from "../../generated/DeckRow";
import type { SheetFormat } from "../../generated/SheetFormat";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { type Handler, useActionHandlers } from "../actions/handlers";
import { useReview } from "./review-store";
import { add, clear, retain, selectShown, toggle, toggleAll } from "./selection";
import type { Refusals } from "./selection-facts";
import { useDeckActions } from "./use-deck-actions";
import { groupKeyAt } from "./use-grid-keys";
import type { Lines } from "./use-lines";

interface ReviewActions {
  rows: readonly DeckRow[];
  /** What the filter lets through, in the order on screen. */
  shown: readonly string[];
  lines: Lines;
  ids: readonly string[];
  hidden: number;
  blocked: string | null;
  keeps: string | null;
  refusals: Refusals;
  splitGroups: readonly string[];
  toFilter: () => void;
  toDetail: () => void;
}

/** What can be done with the deck and the selection, by the registry's names. */
export function useReviewActions(now: ReviewActions): void {
  const ipc = useIpc();
  const deck = useDeckActions();
  const { rows, shown, ids, blocked, keeps, refusals } = now;
  const { select, open, openHandOver, openImport, block } = useReview.getState();
  const decides = (run: () => void): Handler => ({ run, whyNot: blocked, onBlocked: block });
  const gives = (run: () => void): Handler => ({ run, whyNot: keeps, onBlocked: block });

  const exportDeck = async (format: SheetFormat) => {
    try {
      const { path } = await ipc.exportDeck(shown, format);
      const run = () =>
        void copyText(path).then((copied) => say(copied ? "Copied" : "It cannot be copied here."));
      useToasts.getState().show({
        text: `${shown.length} of ${rows.length} in the deck exported to ${path}`,
        endsAtMs: performance.now() + PATH_MS,
        more: { label: "Copy path", run },
      });
    } catch (thrown) {
      complain(toCommandError(thrown).message);
    }
  };
  const exports = (format: SheetFormat): Handler => ({
    run: () => void exportDeck(format),
    whyNot: shown.length === 0 ? "There is nothing to export." : null,
  });

  useActionHandlers({
    toggle: { run: () => toggleAtCursor(now.lines) },
    "select-shown": { run: () => select((selection) => selectShown(selection, shown)) },
    clear: { run: () => select(clear) },
    "drop-hidden": {
      run: () => select((selection) => retain(selection, new Set(shown))),
      whyNot: now.hidden === 0 ? "Nothing of the selection is hidden." : null,
    },
    "drop-refused": {
      run: () => {
        const unsigned = new Set([...refusals.ids, ...now.splitGroups]);
        select((selection) => retain(selection, new Set(ids.filter((id) => !unsigned.has(id)))));
      },
      whyNot:
        refusals.ids.length + now.splitGroups.length === 0
          ? "Nothing of the selection is foreseen to be refused, and no group is split."
          : null,
    },
    "select-group": {
      run: () => select((selection) => add(selection, wholeGroups(rows, now.splitGroups))),
      whyNot: now.splitGroups.length === 0 ? "No group is split." : null,
    },
    approve: decides(() => open("APPROVE", ids)),
    reject: decides(() => open("REJECT", ids)),
    escalate: gives(() => openHandOver(ids, "escalate")),
    release: { run: () => void deck.release(ids), whyNot: keeps },
    "hand-over": gives(() => openHandOver(ids)),
    undo: { run: () => void deck.undo() },
    detail: { run: now.toDetail },
    filter: { run: now.toFilter },
    "export-xlsx": exports("XLSX"),
    "export-csv": exports("CSV"),
    "import-decisions": { run: openImport },
  });
}

function toggleAtCursor({ groups }: Lines) {
  useReview.getState().select((selection) => {
    const { cursor } = selection;
    if (cursor === null) return selection;
    const key = groupKeyAt(cursor);
    if (key === null) return toggle(selection, cursor);
    return toggleAll(selection, groups?.find((group) => group.key === key)?.ids ?? [], cursor);
  });
}

function wholeGroups(rows: readonly DeckRow[], splitIds: readonly string[]): string[] {
  const split = new Set(splitIds);
  const groups = new Set(rows.filter(({ id }) => split.has(id)).map(({ group }) => group));
  return rows.filter(({ group }) => group !== null && groups.has(group)).map(({ id }) => id);
}
