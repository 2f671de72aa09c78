import { useRef, useState } from "react";
import { Dialog, Header, Menu, MenuItem, MenuSection, Popover, Separator } from "react-aria-components";
import { setHidden, setPinned, setWidth } from "../views/column-layout";
import type { SortRule } from "../views/setup";
import { useViews } from "../views/views-store";
import { ColumnFilterForm } from "./ColumnFilterForm";
import type { DrawnColumn } from "./drawn-columns";
import menu from "./menu.module.css";
import { useReview } from "./review-store";

interface ColumnMenuProps {
  column: DrawnColumn;
  anchor: HTMLElement;
  onWiden: (by: 1 | -1) => void;
  onMove: (by: 1 | -1) => void;
  onClose: () => void;
}

/** Everything that can be done with a column. */
export function ColumnMenu({ column, anchor, onWiden, onMove, onClose }: ColumnMenuProps) {
  const { id, spec, stickyPx } = column;
  const { setup, change, changeColumns, ask } = useViews();
  const [filtering, setFiltering] = useState(false);
  const trigger = useRef<HTMLElement>(anchor);
  const sorted = setup.sort.find((rule) => rule.id === id);
  const filter = setup.filters[id];

  const sortBy = (desc: boolean, further: boolean) => {
    const others: SortRule[] = further ? setup.sort.filter((rule) => rule.id !== id) : [];
    change({ sort: [...others, { id, desc }] });
  };
  const { [id]: _mine, ...otherFilters } = setup.filters;
  const actions: Record<string, () => void> = {
    ascending: () => sortBy(false, false),
    descending: () => sortBy(true, false),
    "then-ascending": () => sortBy(false, true),
    "then-descending": () => sortBy(true, true),
    unsorted: () => change({ sort: setup.sort.filter((rule) => rule.id !== id) }),
    unfiltered: () => change({ filters: otherFilters }),
    group: () => change({ group: setup.group === spec.groupBy ? null : spec.groupBy }),
    pin: () => changeColumns((layout) => setPinned(layout, id, stickyPx === null)),
    hide: () => changeColumns((layout) => setHidden(layout, id, true)),
    left: () => onMove(-1),
    right: () => onMove(1),
    wider: () => onWiden(1),
    narrower: () => onWiden(-1),
    "own-width": () => changeColumns((layout) => setWidth(layout, id, null)),
    columns: () => ask("columns"),
  };
  const act = (key: string) => {
    if (key === "filter") return setFiltering(true);
    actions[key]?.();
    // A width is found step by step.
    if (key !== "wider" && key !== "narrower") onClose();
    // What is hidden cannot take the focus back.
    if (key === "hide") useReview.getState().focusGrid();
  };
  const item = (key: string, label: string, keys?: string) => (
    <MenuItem
      id={key}
      className={menu.item}
      textValue={label}
      shouldCloseOnSelect={false}
      data-testid={`column-${key}`}
    >
      <span>{label}</span>
      {keys !== undefined && <kbd>{keys}</kbd>}
    </MenuItem>
  );

  return (
    <Popover
      className={menu.popover}
      aria-label={`Column ${spec.name}`}
      triggerRef={trigger}
      isOpen
      placement="bottom start"
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      {filtering && spec.filter !== null ? (
        <Dialog className={menu.dialog} aria-label={`Filter of ${spec.name}`}>
          <ColumnFilterForm id={id} spec={spec} onClose={onClose} />
        </Dialog>
      ) : (
        <Menu
          className={menu.menu}
          aria-label={`Column ${spec.name}`}
          autoFocus="first"
          onAction={(key) => act(String(key))}
        >
          <MenuSection>
            <Header className={menu.header}>{spec.name}</Header>
            {item("ascending", "Sort ascending")}
            {item("descending", "Sort descending")}
            {setup.sort.some((rule) => rule.id !== id) && item("then-ascending", "Then by it, ascending")}
            {setup.sort.some((rule) => rule.id !== id) && item("then-descending", "Then by it, descending")}
            {sorted !== undefined && item("unsorted", "Do not sort by it")}
          </MenuSection>
          <Separator className={menu.separator} />
          {spec.filter !== null && item("filter", "Filter…")}
          {filter !== undefined && item("unfiltered", "Clear its filter")}
          {spec.groupBy !== null &&
            item("group", setup.group === spec.groupBy ? "Do not group" : "Group by it")}
          {(spec.filter !== null || spec.groupBy !== null) && <Separator className={menu.separator} />}
          {item("pin", stickyPx === null ? "Pin to the left" : "Unpin")}
          {item("left", "Move left", "Alt ←")}
          {item("right", "Move right", "Alt →")}
          {item("wider", "Wider", "Ctrl →")}
          {item("narrower", "Narrower", "Ctrl ←")}
          {setup.columns.widths[id] !== undefined && item("own-width", "Usual width")}
          <Separator className={menu.separator} />
          {item("hide", "Hide")}
          {item("columns", "Choose columns…")}
        </Menu>
      )}
    </Popover>
  );
}
