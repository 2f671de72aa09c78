import type { ActionId } from "../actions/actions";
import { type Handler, type Handlers, useActionHandlers } from "../actions/handlers";
import { anyFilter } from "./filters";
import type { Group } from "./grouping";
import { type GroupKey, SHIPPED_COLUMNS } from "./setup";
import { useModified, useViews, viewOf, viewsInOrder } from "./views-store";

const VIEWS_WITH_KEYS = 9;

/** What can be done with views, groups and columns, by the registry's names. */
export function useViewActions(groups: readonly Group[] | null): void {
  const { own, current, setup, open, change, changeColumns, fold, ask, save, reset } = useViews();
  const modified = useModified();
  const shipped = viewOf({ own, current }).shipped;
  const unlessShipped = (run: () => void): Handler => ({
    run,
    whyNot: shipped ? "Shipped views stay as they are." : null,
  });
  const groupBy = (group: GroupKey | null): Handler => ({ run: () => change({ group }) });
  const folds = (folded: boolean): Handler => ({
    run: () =>
      fold(
        (groups ?? []).map(({ key }) => key),
        folded,
      ),
    whyNot: groups === null ? "Nothing is grouped." : null,
  });
  useActionHandlers({
    ...opens(
      viewsInOrder(own).map(({ id }) => id),
      open,
    ),
    "view-save": { run: save, whyNot: modified ? null : "The view is as it was saved." },
    "view-save-as": { run: () => ask("save-as") },
    "view-reset": { run: reset, whyNot: modified ? null : "The view is as it was saved." },
    "view-rename": unlessShipped(() => ask("rename")),
    "view-delete": unlessShipped(() => ask("delete")),
    "clear-filters": {
      run: () => change({ trait: null, quick: "", filters: {} }),
      whyNot: anyFilter(setup) ? null : "Nothing is filtered.",
    },
    columns: { run: () => ask("columns") },
    "reset-columns": { run: () => changeColumns(() => SHIPPED_COLUMNS) },
    "group-entity": groupBy("entity"),
    "group-counterparty": groupBy("counterparty"),
    "group-currency": groupBy("currency"),
    "group-tier": groupBy("tier"),
    "group-report": groupBy("report"),
    "group-none": groupBy(null),
    "collapse-groups": folds(true),
    "expand-groups": folds(false),
  });
}

function opens(ids: readonly string[], open: (id: string) => void): Handlers {
  const handlers: Handlers = {};
  for (let place = 1; place <= VIEWS_WITH_KEYS; place += 1) {
    const id = ids[place - 1];
    handlers[`view-${place}` as ActionId] = {
      run: () => {
        if (id !== undefined) open(id);
      },
      whyNot: id === undefined ? `There is no view ${place}.` : null,
    };
  }
  return handlers;
}
