import { useEffect, useRef } from "react";
import { say } from "../../components/toast-store";
import type { ActionId } from "./actions";

/** What an action does now, or why it cannot. */
export interface Handler {
  run: () => void;
  whyNot?: string | null;
  /** Where the reason is shown; in a toast without it. */
  onBlocked?: (reason: string) => void;
}

export type Handlers = Partial<Record<ActionId, Handler>>;

/** The latest that registered comes first. No component is drawn anew for it: who shows actions asks when it is opened. */
const registered: { current: Handlers }[] = [];

/** Registers what a component can do for as long as it is drawn. */
export function useActionHandlers(handlers: Handlers): void {
  const entry = useRef(handlers);
  useEffect(() => {
    entry.current = handlers;
  });
  useEffect(() => {
    registered.unshift(entry);
    return () => {
      registered.splice(registered.indexOf(entry), 1);
    };
  }, []);
}

function handlerOf(id: ActionId): Handler | null {
  for (const { current } of registered) {
    const handler = current[id];
    if (handler !== undefined) return handler;
  }
  return null;
}

/** Why an action cannot be taken now, or `null`. */
export function whyNot(id: ActionId): string | null {
  const handler = handlerOf(id);
  return handler === null ? "Not on this screen." : (handler.whyNot ?? null);
}

/** Takes an action, or says why it cannot be taken. Answers whether anything is there to take it. */
export function perform(id: ActionId): boolean {
  const handler = handlerOf(id);
  if (handler === null) return false;
  if (handler.whyNot) (handler.onBlocked ?? say)(handler.whyNot);
  else handler.run();
  return true;
}
