import { useId, useMemo, useRef, useState } from "react";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import { useViews, viewsInOrder } from "../views/views-store";
import { ACTION_IDS, ACTIONS, type ActionId } from "./actions";
import { fitting } from "./fuzzy";
import { perform, whyNot } from "./handlers";
import { keyOf, writtenKey } from "./keymap";
import styles from "./Palette.module.css";

interface Entry {
  id: ActionId;
  label: string;
  section: string;
  key: string;
  whyNot: string | null;
}

/** Every action with its key. What cannot be done now is there as well, with the reason. */
function entries(): Entry[] {
  const views = viewsInOrder(useViews.getState().own);
  return ACTION_IDS.filter((id) => ACTIONS[id].context !== "dialog" && id !== "palette").flatMap((id) => {
    const { label, section } = ACTIONS[id];
    const entry = { id, label, section, key: keyOf(id), whyNot: whyNot(id) };
    const place = /^view-(\d)$/.exec(id)?.[1];
    if (place === undefined) return [entry];
    const view = views[Number(place) - 1];
    return view === undefined ? [] : [{ ...entry, label: `Open view: ${visibleText(view.name)}` }];
  });
}

export function Palette({ onClose }: { onClose: () => void }) {
  const all = useMemo(entries, []);
  const [typed, setTyped] = useState("");
  const [place, setPlace] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const listId = useId();
  const found = useMemo(() => {
    const fit = fitting(typed, all, ({ label, section }) => `${label} ${section}`);
    return [...fit.filter((entry) => entry.whyNot === null), ...fit.filter((entry) => entry.whyNot !== null)];
  }, [all, typed]);
  const at = Math.min(place, found.length - 1);
  const current = found[at];

  const take = (entry: Entry | undefined) => {
    if (entry === undefined || entry.whyNot !== null) return;
    onClose();
    // What it opens takes the focus after this dialog has given it back.
    requestAnimationFrame(() => requestAnimationFrame(() => perform(entry.id)));
  };
  const moveTo = (next: number) => {
    setPlace(next);
    list.current?.children[next]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") moveTo(Math.min(found.length - 1, at + 1));
    else if (event.key === "ArrowUp") moveTo(Math.max(0, at - 1));
    else if (event.key === "Enter") take(current);
    else return;
    event.preventDefault();
  };

  return (
    <Window title="Every action" onClose={onClose} data-testid="palette">
      <input
        className={styles.input}
        role="combobox"
        aria-label="Search the actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={current === undefined ? undefined : `${listId}-${current.id}`}
        aria-autocomplete="list"
        placeholder="Type what to do"
        // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus
        autoFocus
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setPlace(0);
        }}
        onKeyDown={onKeyDown}
        data-testid="palette-input"
      />
      <div ref={list} id={listId} className={styles.list} role="listbox" aria-label="Actions">
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the current option
          <div
            key={entry.id}
            id={`${listId}-${entry.id}`}
            role="option"
            className={styles.entry}
            aria-selected={index === at}
            aria-disabled={entry.whyNot !== null}
            onClick={() => take(entry)}
            data-testid={`palette-${entry.id}`}
          >
            <span className={styles.label}>{entry.label}</span>
            <span className={styles.section}>{entry.section}</span>
            <span className={styles.why}>{entry.whyNot}</span>
            {entry.key !== "" && <kbd>{writtenKey(entry.key)}</kbd>}
          </div>
        ))}
        {found.length === 0 && <div className={styles.none}>No action is called that.</div>}
      </div>
    </Window>
  );
}
