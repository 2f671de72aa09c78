import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import { ACTIONS, type ActionId } from "../actions/actions";
import { perform } from "../actions/handlers";
import { useKeyOf, writtenKey } from "../actions/keymap";
import { COLUMNS, sortName } from "../review/columns";
import menu from "../review/menu.module.css";
import { filterWords } from "./filters";
import type { ColumnId, Filters } from "./setup";
import styles from "./ViewBar.module.css";
import { useModified, useViews, viewOf } from "./views-store";

interface ViewBarProps {
  shown: number;
  total: number;
}

/** How the deck is looked at: what is filtered, sorted and grouped, and whether the view holds it. Always there, so that nothing jumps. */
export function ViewBar({ shown, total }: ViewBarProps) {
  const { setup, change } = useViews();
  const shipped = useViews((state) => viewOf(state).shipped);
  const modified = useModified();
  const without = (id: ColumnId): Filters => {
    const { [id]: _gone, ...rest } = setup.filters;
    return rest;
  };
  return (
    <div className={styles.bar}>
      <span className={styles.count} aria-live="polite" data-testid="filter-count">
        {shown} of {total}
      </span>
      <div className={styles.chips}>
        {(Object.keys(setup.filters) as ColumnId[]).map((id) => {
          const filter = setup.filters[id];
          if (filter === undefined) return null;
          return (
            <Chip
              key={id}
              text={`${COLUMNS[id].name} ${filterWords(filter)}`}
              remove="Clear this filter"
              onRemove={() => change({ filters: without(id) })}
            />
          );
        })}
        {setup.sort.length > 0 && (
          <Chip
            text={`Sorted by ${setup.sort.map(({ id, desc }) => `${sortName(id)} ${desc ? "↓" : "↑"}`).join(", ")}`}
            remove="Do not sort"
            onRemove={() => change({ sort: [] })}
          />
        )}
        {setup.group !== null && (
          <Chip
            text={`Grouped by ${setup.group}`}
            remove="Do not group"
            onRemove={() => change({ group: null })}
          />
        )}
      </div>
      {modified && (
        <span className={styles.modified} data-testid="view-modified">
          modified ·
          <Button look="quiet" onPress={() => perform("view-save")} data-testid="view-save">
            {shipped ? "Save as…" : "Save"}
          </Button>
        </span>
      )}
      <ActionMenu
        label="View"
        testId="view-menu"
        actions={
          shipped
            ? ["view-save-as", "view-reset"]
            : ["view-save", "view-save-as", "view-reset", "view-rename", "view-delete"]
        }
      />
      <ActionMenu
        label="Group"
        testId="group-menu"
        actions={[
          "group-none",
          "group-entity",
          "group-counterparty",
          "group-currency",
          "group-tier",
          "group-report",
          "collapse-groups",
          "expand-groups",
        ]}
      />
      <ActionMenu label="Columns" testId="columns-menu" actions={["columns", "reset-columns"]} />
      <ActionMenu
        label="Spreadsheet"
        testId="sheet-menu"
        actions={["export-xlsx", "export-csv", "import-decisions"]}
      />
    </div>
  );
}

function Chip({ text, remove, onRemove }: { text: string; remove: string; onRemove: () => void }) {
  return (
    <span className={styles.chip}>
      <span className={styles.chipText} title={visibleText(text)}>
        {visibleText(text)}
      </span>
      <AriaButton className={styles.remove} aria-label={`${remove}: ${visibleText(text)}`} onPress={onRemove}>
        ×
      </AriaButton>
    </span>
  );
}

/** A few actions of the registry, with their keys. */
function ActionMenu({
  label,
  testId,
  actions,
}: {
  label: string;
  testId: string;
  actions: readonly ActionId[];
}) {
  const keyOf = useKeyOf();
  return (
    <MenuTrigger>
      <AriaButton className={menu.trigger} data-testid={testId}>
        {label} <span aria-hidden="true">▾</span>
      </AriaButton>
      <Popover className={menu.popover} placement="bottom end">
        <Menu
          className={menu.menu}
          // What it opens takes the focus after the menu has given it back.
          onAction={(id) => requestAnimationFrame(() => perform(id as ActionId))}
        >
          {actions.map((id) => (
            <MenuItem key={id} id={id} className={menu.item} textValue={ACTIONS[id].label} data-testid={id}>
              <span>{ACTIONS[id].label}</span>
              {keyOf(id) !== "" && <kbd>{writtenKey(keyOf(id))}</kbd>}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
