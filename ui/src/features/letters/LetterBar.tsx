import { Button } from "../../components/Button";
import { counted } from "../../components/plural";
import type { LetterRow } from "../../generated/LetterRow";
import type { ActionId } from "../actions/actions";
import { perform, whyNot } from "../actions/handlers";
import { useKeyOf, writtenKey } from "../actions/keymap";
import styles from "./LetterBar.module.css";
import { useLetterDesk } from "./letters-store";

interface LetterBarProps {
  shown: number;
  of: number;
  more: number;
  chosen: readonly LetterRow[];
  current: LetterRow | null;
  reading: boolean;
  onRefresh: () => void;
}

const BUTTONS: readonly { id: ActionId; label: string }[] = [
  { id: "letter-take", label: "Take" },
  { id: "letter-put-back", label: "Put back" },
  { id: "letter-rehearse", label: "Rehearse" },
  { id: "letter-replay", label: "Replay…" },
  { id: "letter-discard", label: "Discard…" },
];

/** The filter, what is selected, and what can be done with it. */
export function LetterBar({ shown, of, more, chosen, current, reading, onRefresh }: LetterBarProps) {
  const { filter, setFilter, done, showDone, cause } = useLetterDesk();
  const count = chosen.length > 0 ? chosen.length : current === null ? 0 : 1;
  return (
    <div className={styles.bar}>
      <div className={styles.line}>
        <input
          className={styles.filter}
          value={filter}
          placeholder="Filter"
          aria-label="Filter the letters"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" && event.key !== "Escape") return;
            if (event.key === "Escape") setFilter("");
            useLetterDesk.getState().focusRows();
          }}
          data-testid="letters-filter"
        />
        <span className={styles.counts} role="status" data-testid="letters-count">
          {shown === of ? counted(of, "letter") : `${shown} of ${counted(of, "letter")}`}
          {more > 0 && `, the oldest; ${more} more after them`}
          {chosen.length > 0 && ` · ${chosen.length} selected`}
        </span>
        <label className={styles.done}>
          <input
            type="checkbox"
            checked={done}
            onChange={(event) => showDone(event.target.checked)}
            data-testid="letters-done"
          />
          Done too
        </label>
        <Button look="quiet" isBusy={reading} onPress={onRefresh} data-testid="letters-refresh">
          Read anew
        </Button>
      </div>
      <fieldset className={styles.line} aria-label="What to do with the letters">
        {BUTTONS.map((button) => (
          <BarButton key={button.id} {...button} none={count === 0} />
        ))}
        {cause !== null && (
          <BarButton id="letter-replay-cause" label="Replay all of the cause…" none={of === 0} />
        )}
      </fieldset>
    </div>
  );
}

/** Drawn with its screen, whose handlers are registered after it: why something cannot be done is asked when it is pressed. */
function BarButton({ id, label, none }: { id: ActionId; label: string; none: boolean }) {
  const keyOf = useKeyOf();
  const key = keyOf(id);
  return (
    <Button
      isDisabled={none}
      shortcut={key === "" ? undefined : writtenKey(key)}
      onPress={() => perform(id)}
      title={none ? "Nothing is selected." : (whyNot(id) ?? undefined)}
      data-testid={id}
    >
      {label}
    </Button>
  );
}
