import { Button } from "../../components/Button";
import { Window } from "../../components/Window";
import { useFrame } from "./frame-store";
import styles from "./Shortcuts.module.css";

const KEYS: readonly (readonly [string, string])[] = [
  ["↑ ↓ or J K", "Move by a row"],
  ["Page Up, Page Down, Home, End", "Move by a page or to an end"],
  ["Space", "Select or clear the row"],
  ["Shift with an arrow or a click", "Select a range"],
  ["Ctrl with a click", "Select or clear one more"],
  ["Ctrl A", "Select what the filter shows"],
  ["Escape", "Clear the selection"],
  ["A", "Approve the selection"],
  ["R", "Reject the selection"],
  ["X", "Give the selection back"],
  ["H", "Hand the selection to a colleague"],
  ["U", "Undo the last signature"],
  ["Enter", "To the detail and back"],
  ["/", "To the filter"],
  ["Ctrl Enter", "Sign, in the dialog"],
];

export function Shortcuts() {
  const shown = useFrame((state) => state.shortcutsShown);
  const show = useFrame((state) => state.showShortcuts);
  if (!shown) return null;
  return (
    <Window title="Keys" onClose={() => show(false)} data-testid="shortcuts">
      <p className={styles.note}>Single letters work while the grid has the focus.</p>
      <dl className={styles.keys}>
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div className={styles.actions}>
        <Button autoFocus onPress={() => show(false)}>
          Close
        </Button>
      </div>
    </Window>
  );
}
