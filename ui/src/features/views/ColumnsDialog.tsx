import { Button } from "../../components/Button";
import { Window } from "../../components/Window";
import { COLUMNS } from "../review/columns";
import styles from "./ColumnsDialog.module.css";
import { moveInOrder, setHidden, setPinned } from "./column-layout";
import { SHIPPED_COLUMNS } from "./setup";
import { useViews } from "./views-store";

/** Which columns there are, in which order, and which of them stay at the left. It takes effect at once. */
export function ColumnsDialog({ onClose }: { onClose: () => void }) {
  const layout = useViews((state) => state.setup.columns);
  const changeColumns = useViews((state) => state.changeColumns);
  return (
    <Window title="Columns" onClose={onClose} data-testid="columns-dialog">
      <ul className={styles.list}>
        {layout.order.map((id, place) => {
          const { name } = COLUMNS[id];
          return (
            <li key={id} className={styles.column}>
              <label className={styles.name}>
                <input
                  type="checkbox"
                  checked={!layout.hidden.includes(id)}
                  onChange={(event) => changeColumns((now) => setHidden(now, id, !event.target.checked))}
                  data-testid={`column-shown-${id}`}
                />
                {name}
              </label>
              <label className={styles.pin}>
                <input
                  type="checkbox"
                  aria-label={`Pin ${name} to the left`}
                  checked={layout.pinned.includes(id)}
                  onChange={(event) => changeColumns((now) => setPinned(now, id, event.target.checked))}
                />
                pinned
              </label>
              <Button
                look="quiet"
                aria-label={`Move ${name} up`}
                isDisabled={place === 0}
                onPress={() => changeColumns((now) => moveInOrder(now, id, -1))}
              >
                ↑
              </Button>
              <Button
                look="quiet"
                aria-label={`Move ${name} down`}
                isDisabled={place === layout.order.length - 1}
                onPress={() => changeColumns((now) => moveInOrder(now, id, 1))}
              >
                ↓
              </Button>
            </li>
          );
        })}
      </ul>
      <div className={styles.actions}>
        <Button onPress={() => changeColumns(() => SHIPPED_COLUMNS)}>Reset</Button>
        <Button look="primary" autoFocus onPress={onClose}>
          Done
        </Button>
      </div>
    </Window>
  );
}
