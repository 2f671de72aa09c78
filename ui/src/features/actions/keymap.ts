import { usePreferences } from "../../components/preferences-store";
import { ACTION_IDS, ACTIONS, type Action, type ActionId } from "./actions";

/** The keys that a reviewer chose, by action; `""` takes the key away. */
export type Keymap = Readonly<{ [action in string]: string }>;

function chosen(): Keymap {
  return usePreferences.getState().preferences.keymap;
}

/** The key of an action, empty for none. What a keymap says about an action whose key is fixed is passed over. */
export function keyOf(id: ActionId, keymap: Keymap = chosen()): string {
  const { key, fixed }: Action = ACTIONS[id];
  return fixed || !Object.hasOwn(keymap, id) ? key : (keymap[id] ?? key);
}

/** The key of an action, which a component shows. */
export function useKeyOf(): (id: ActionId) => string {
  const keymap = usePreferences((state) => state.preferences.keymap);
  return (id) => keyOf(id, keymap);
}

/** Every key of an action: its own and the ones that it always has. */
export function keysOf(id: ActionId, keymap: Keymap = chosen()): string[] {
  const own = keyOf(id, keymap);
  return own === "" ? [...ACTIONS[id].also] : [own, ...ACTIONS[id].also];
}

/** Where a key is pressed: among the rows of a screen, or anywhere else. */
export type Place = "grid" | "desk" | null;

/** Whether two actions can be meant by the same key. Two screens are never both there, nor are two dialogs. */
function meet(a: ActionId, b: ActionId): boolean {
  const contexts = [ACTIONS[a].context, ACTIONS[b].context].sort().join(" ");
  return a !== b && contexts !== "desk grid" && contexts !== "dialog dialog";
}

/** Keys that more than one action has. What works among rows and what works everywhere meet there. */
export function conflicts(keymap: Keymap): { key: string; actions: ActionId[] }[] {
  const taken = new Map<string, ActionId[]>();
  for (const id of ACTION_IDS) {
    for (const key of keysOf(id, keymap)) taken.set(key, [...(taken.get(key) ?? []), id]);
  }
  return [...taken]
    .map(([key, all]) => ({ key, actions: all.filter((id) => all.some((other) => meet(id, other))) }))
    .filter(({ actions }) => actions.length > 1);
}

export interface KeyPress {
  key: string;
  /** The place on the keyboard, for letters of other scripts and what Alt makes of a letter. */
  code: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** How a key press reads in a keymap; `null` for a modifier alone and for dead keys. */
export function keyText(press: KeyPress): string | null {
  const name = keyName(press);
  if (name === null) return null;
  const printsAsItIs = name.length === 1 && !/[A-Z]/.test(name);
  return [
    press.ctrlKey || press.metaKey ? "Ctrl+" : "",
    press.altKey ? "Alt+" : "",
    // Shift is part of how a sign is typed, and differs from one keyboard to the next.
    press.shiftKey && !printsAsItIs ? "Shift+" : "",
    name,
  ].join("");
}

function keyName({ key, code, altKey }: KeyPress): string | null {
  if (["Control", "Shift", "Alt", "Meta", "Dead", "Process", "Unidentified", "AltGraph"].includes(key))
    return null;
  if (key === " ") return "Space";
  if (key.length > 1) return key;
  if (/^[a-z]$/i.test(key)) return key.toUpperCase();
  const place = /^(?:Key([A-Z])|Digit([0-9]))$/.exec(code);
  const letterOfPlace = place?.[1] ?? place?.[2];
  // A Cyrillic or Greek letter means the key that it is on; so does what Alt makes of a letter on a Mac.
  if (letterOfPlace !== undefined && (altKey || /\p{L}/u.test(key))) return letterOfPlace;
  return key;
}

/** Whether a key prints a character, so that it must not act while something else has the focus than rows. */
export function printsCharacter(key: string): boolean {
  return key === "Space" || /^(?:Shift\+)?.$/u.test(key);
}

/** The action of a key that is pressed in this place. */
export function actionAt(key: string, place: Place, keymap: Keymap = chosen()): ActionId | null {
  const found = ACTION_IDS.find((id) => {
    const { context } = ACTIONS[id] as Action;
    const here = context === "anywhere" || context === place || (context === "rows" && place !== null);
    return here && keysOf(id, keymap).includes(key);
  });
  if (found === undefined || (place === null && printsCharacter(key))) return null;
  return found;
}

const WRITTEN: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Enter: "⏎",
  Escape: "Esc",
  PageDown: "Page Down",
  PageUp: "Page Up",
};

/** A key as it is shown: `Ctrl ⏎`. */
export function writtenKey(key: string): string {
  const parts = key.endsWith("++") ? [...key.slice(0, -2).split("+"), "+"] : key.split("+");
  return (key === "+" ? ["+"] : parts).map((part) => WRITTEN[part] ?? part).join(" ");
}
