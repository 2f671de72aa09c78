import { useEffect, useLayoutEffect, useRef, useState } from "react";

const STEPS: Record<string, number> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/**
 * One tab stop for a list of rows. The element of a row that takes the focus carries `data-item` with the row's key; arrows, J, K,
 * Page Up, Page Down, Home and End move between them, and each key of `commands` does something with the row the keyboard is in.
 * A row that leaves hands the focus to the one in its place. `bring` scrolls to a place whose row may not be drawn yet.
 */
export function useRovingList(
  keys: readonly string[],
  commands: Record<string, (key: string) => void>,
  bring: (place: number) => void = () => undefined,
): { container: React.RefObject<HTMLDivElement | null>; current: string | null } {
  const container = useRef<HTMLDivElement>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const place = useRef(0);
  const owned = useRef(false);
  const current =
    asked !== null && keys.includes(asked) ? asked : (keys[Math.min(place.current, keys.length - 1)] ?? null);

  const latest = useRef({ keys, commands, bring });
  const awaited = useRef<string | null>(null);
  useLayoutEffect(() => {
    latest.current = { keys, commands, bring };
    const item = itemOf(container.current, awaited.current);
    if (item !== null) return item.focus({ preventScroll: true });
    if (!owned.current || document.activeElement !== document.body) return;
    itemOf(container.current, current)?.focus({ preventScroll: true });
  });

  useEffect(() => {
    const frame = container.current;
    if (frame === null) return;
    const keyOf = (event: Event) => (event.target as Element).getAttribute("data-item");
    const onFocusIn = (event: FocusEvent) => {
      const key = keyOf(event);
      owned.current = key !== null;
      awaited.current = null;
      if (key === null) return;
      place.current = Math.max(0, latest.current.keys.indexOf(key));
      setAsked(key);
    };
    const onFocusOut = (event: FocusEvent) => {
      const left = event.target as Element;
      // A row that is taken out of the document loses the focus to nobody, and its list keeps it.
      queueMicrotask(() => {
        if (left.isConnected && !frame.contains(document.activeElement)) owned.current = false;
      });
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const key = keyOf(event);
      if (key === null || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (Object.hasOwn(STEPS, name)) {
        event.preventDefault();
        const all = latest.current.keys;
        const to = Math.min(all.length - 1, Math.max(0, all.indexOf(key) + (STEPS[name] ?? 0)));
        latest.current.bring(to);
        const item = itemOf(frame, all[to] ?? null);
        if (item === null) awaited.current = all[to] ?? null;
        item?.focus();
        item?.scrollIntoView?.({ block: "nearest" });
        return;
      }
      const command = latest.current.commands[name];
      if (command === undefined || event.repeat) return;
      event.preventDefault();
      command(key);
    };
    frame.addEventListener("focusin", onFocusIn);
    frame.addEventListener("focusout", onFocusOut);
    frame.addEventListener("keydown", onKeyDown);
    return () => {
      frame.removeEventListener("focusin", onFocusIn);
      frame.removeEventListener("focusout", onFocusOut);
      frame.removeEventListener("keydown", onKeyDown);
    };
  }, []);

  return { container, current };
}

function itemOf(frame: Element | null, key: string | null): HTMLElement | null {
  if (frame === null || key === null) return null;
  // Compared, because a key may hold what no selector can.
  const items = frame.querySelectorAll<HTMLElement>("[data-item]");
  return [...items].find((item) => item.dataset.item === key) ?? null;
}
