import type { Ipc } from "../ipc";

declare global {
  interface Window {
    /** Every call that went through the door, in order; for tests that look at the page from outside. */
    countersignCalls?: string[];
  }
}

/** The same workstation, with its calls written down. */
export function recorded(ipc: Ipc): Ipc {
  const calls: string[] = [];
  window.countersignCalls = calls;
  return new Proxy(ipc, {
    get(station, name) {
      const member: unknown = Reflect.get(station, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        calls.push(String(name));
        return member.apply(station, given);
      };
    },
  });
}
