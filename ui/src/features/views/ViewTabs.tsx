import { useEffect, useMemo, useRef } from "react";
import { ToggleButton, Toolbar } from "react-aria-components";
import { visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import type { ActionId } from "../actions/actions";
import { useKeyOf, writtenKey } from "../actions/keymap";
import { filterRows } from "./filters";
import styles from "./ViewTabs.module.css";
import { useViews, viewsInOrder } from "./views-store";

const VIEWS_WITH_KEYS = 9;

/** The views with how much of the deck is in each. One stop in the tab order, with arrows between them. */
export function ViewTabs({ rows }: { rows: readonly DeckRow[] }) {
  const own = useViews((state) => state.own);
  const current = useViews((state) => state.current);
  const open = useViews((state) => state.open);
  const keyOf = useKeyOf();
  const views = useMemo(() => viewsInOrder(own), [own]);
  const counts = useMemo(
    () => new Map(views.map(({ id, setup }) => [id, filterRows(rows, setup).length])),
    [views, rows],
  );
  const bar = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the view that is open
  useEffect(() => {
    const tab = bar.current?.querySelector('[aria-pressed="true"]');
    tab?.scrollIntoView?.({ inline: "nearest", block: "nearest" });
  }, [current]);
  return (
    <Toolbar ref={bar} className={styles.tabs} aria-label="Views" data-testid="views">
      {views.map(({ id, name }, place) => {
        const key = place < VIEWS_WITH_KEYS ? keyOf(`view-${place + 1}` as ActionId) : "";
        return (
          <ToggleButton
            key={id}
            className={styles.tab}
            isSelected={id === current}
            onChange={() => open(id)}
            aria-keyshortcuts={key === "" ? undefined : key}
            data-testid={`view-${id}`}
          >
            <span title={key === "" ? undefined : writtenKey(key)}>{visibleText(name)}</span>
            <em>{counts.get(id) ?? 0}</em>
          </ToggleButton>
        );
      })}
    </Toolbar>
  );
}
