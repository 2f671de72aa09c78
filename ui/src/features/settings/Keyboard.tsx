import { useState } from "react";
import { Button } from "../../components/Button";
import { usePreferences } from "../../components/preferences-store";
import { ACTION_IDS, ACTIONS, type Action, type ActionId, SECTIONS } from "../actions/actions";
import { conflicts, keyOf, keyText, printsCharacter, writtenKey } from "../actions/keymap";
import styles from "./Keyboard.module.css";
import type { Entry } from "./sections";

/** The keys of every action, to be chosen anew. */
export function keyboardEntries(): Entry[] {
  const ids = SECTIONS.flatMap((section) => ACTION_IDS.filter((id) => ACTIONS[id].section === section));
  return [
    { id: "keys", words: "keys keyboard shortcuts reset all", shown: <AllKeys /> },
    ...ids.map((id) => ({
      id,
      words: `key shortcut ${ACTIONS[id].section} ${ACTIONS[id].label} ${writtenKey(keyOf(id))}`,
      shown: <ActionKey id={id} />,
    })),
  ];
}

function AllKeys() {
  const keymap = usePreferences((state) => state.preferences.keymap);
  const change = usePreferences((state) => state.change);
  const twice = conflicts(keymap);
  return (
    <>
      <p>Single letters work while the grid has the focus; everything else works everywhere.</p>
      <div className={styles.row}>
        <p
          role="status"
          className={twice.length > 0 ? styles.problem : undefined}
          data-testid="key-conflicts"
        >
          {twice.length === 0
            ? "Every key means one thing."
            : twice
                .map(
                  ({ key, actions }) =>
                    `${writtenKey(key)}: ${actions.map((id) => ACTIONS[id].label).join(", ")}`,
                )
                .join("; ")}
        </p>
        <span className={styles.space} />
        <Button
          isDisabled={Object.keys(keymap).length === 0}
          onPress={() => change({ keymap: {} })}
          data-testid="keys-reset"
        >
          Reset every key
        </Button>
      </div>
    </>
  );
}

/** These leave a control or work it: as an action's key they would lock the keyboard in. */
const KEPT = new Set(["Tab", "Shift+Tab", "Escape", "Enter", "Space"]);

/** What a new key of an action would take away from another one, or `null`. */
export function whyNot(id: ActionId, key: string, keymap: Readonly<Record<string, string>>): string | null {
  const { context }: Action = ACTIONS[id];
  if (KEPT.has(key)) return `${writtenKey(key)} works every control and cannot be an action’s key.`;
  if (context === "anywhere" && printsCharacter(key)) {
    return `${writtenKey(key)} types a character: outside of the grid a key needs Ctrl or Alt.`;
  }
  const others = conflicts({ ...keymap, [id]: key }).find((each) => each.key === key)?.actions ?? [];
  const other = others.find((each) => each !== id);
  return other === undefined
    ? null
    : `${writtenKey(key)} is the key of “${ACTIONS[other].label}”: give that one another key first.`;
}

function ActionKey({ id }: { id: ActionId }) {
  const keymap = usePreferences((state) => state.preferences.keymap);
  const change = usePreferences((state) => state.change);
  const [listening, setListening] = useState(false);
  const [problem, setProblem] = useState("");
  const { label, section, fixed, also }: Action = ACTIONS[id];
  const key = keyOf(id, keymap);
  const shipped = !Object.hasOwn(keymap, id);

  const choose = (chosen: string) => {
    const reason = chosen === "" ? null : whyNot(id, chosen, keymap);
    setProblem(reason ?? "");
    setListening(false);
    if (reason === null) change({ keymap: { ...keymap, [id]: chosen } });
  };
  const reset = () => {
    const others = Object.fromEntries(Object.entries(keymap).filter(([action]) => action !== id));
    const reason = ACTIONS[id].key === "" ? null : whyNot(id, ACTIONS[id].key, others);
    setProblem(reason ?? "");
    if (reason === null) change({ keymap: others });
  };

  return (
    <div className={styles.action} data-testid={`key-${id}`}>
      <span>
        {label} <span className={styles.section}>{section}</span>
      </span>
      <span className={styles.key}>
        {listening ? "Press a key…" : key === "" ? "none" : <kbd>{writtenKey(key)}</kbd>}
        {also.map((each) => (
          <kbd key={each}>{writtenKey(each)}</kbd>
        ))}
      </span>
      {fixed ? (
        <span className={styles.section}>the same in every grid and dialog</span>
      ) : (
        <span className={styles.row}>
          <Button
            aria-label={`${listening ? "Cancel" : "Change"} the key of ${label}`}
            aria-pressed={listening}
            onPress={() => {
              setProblem("");
              setListening(!listening);
            }}
            onBlur={() => setListening(false)}
            onKeyDown={
              listening
                ? (event) => {
                    // These work the button itself; any other key is the answer, and nobody else's.
                    if (event.key === "Escape" || event.key === "Tab") return setListening(false);
                    const pressed = keyText(event);
                    if (pressed === null || KEPT.has(pressed)) return;
                    event.preventDefault();
                    choose(pressed);
                  }
                : undefined
            }
            data-testid={`key-${id}-change`}
          >
            {listening ? "Cancel" : "Change"}
          </Button>
          <Button
            isDisabled={key === ""}
            aria-label={`None: take the key of ${label} away`}
            onPress={() => choose("")}
            data-testid={`key-${id}-none`}
          >
            None
          </Button>
          <Button
            isDisabled={shipped}
            aria-label={`Reset the key of ${label}`}
            onPress={reset}
            data-testid={`key-${id}-reset`}
          >
            Reset
          </Button>
        </span>
      )}
      <p className={styles.problem} role="alert">
        {problem}
      </p>
    </div>
  );
}
