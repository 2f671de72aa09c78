import { Button } from "../../components/Button";
import { Window } from "../../components/Window";
import { ACTION_IDS, ACTIONS, type ActionId, SECTIONS, type Section } from "../actions/actions";
import { keysOf, writtenKey } from "../actions/keymap";
import { useFrame } from "./frame-store";
import styles from "./Shortcuts.module.css";

/** Every key, from the registry of actions: what a reviewer has remapped is shown as it is now. */
export function Shortcuts() {
  const shown = useFrame((state) => state.shortcutsShown);
  const show = useFrame((state) => state.showShortcuts);
  if (!shown) return null;
  return (
    <Window title="Keys" wide onClose={() => show(false)} data-testid="shortcuts">
      <p className={styles.note}>
        Letters and signs work while the grid has the focus. Shift with a key that moves, or with a click,
        selects a range; Ctrl with a click selects one more. Every key can be chosen in the settings.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <section className={styles.scroll} aria-label="Keys by section" tabIndex={0}>
        <div className={styles.sections}>
          {SECTIONS.filter((section) => withKeys(section).length > 0).map((section) => (
            <section key={section} className={styles.section}>
              <h3>{section}</h3>
              <dl className={styles.keys}>
                {withKeys(section).map((id) => (
                  <div key={id}>
                    <dt>{ACTIONS[id].label}</dt>
                    <dd>
                      {keysOf(id).map((key) => (
                        <kbd key={key}>{writtenKey(key)}</kbd>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </section>
      <div className={styles.actions}>
        <Button autoFocus onPress={() => show(false)}>
          Close
        </Button>
      </div>
    </Window>
  );
}

function withKeys(section: Section): ActionId[] {
  return ACTION_IDS.filter((id) => ACTIONS[id].section === section && keysOf(id).length > 0);
}
