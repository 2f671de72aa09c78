import { useEffect, useRef, useState } from "react";
import type { LetterOutcome } from "../../generated/LetterOutcome";
import type { LettersReply } from "../../generated/LettersReply";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { parts, useLetterCalls } from "./use-letter-calls";

type Told = ReadonlyMap<string, LetterOutcome>;

export interface Replay {
  /** What is going on; `null` while nothing is. */
  work: "rehearsal" | "replay" | null;
  /** What would become of each letter. */
  foreseen: Told;
  /** What became of it. */
  done: Told;
  /** The monotonic time at which it goes on by itself, because the database asked to wait. */
  goesOnAtMs: number | null;
  problem: string | null;
}

const NOTHING: Replay = {
  work: "rehearsal",
  foreseen: new Map(),
  done: new Map(),
  goesOnAtMs: null,
  problem: null,
};

/**
 * Rehearses a frozen list of letters, and replays those that would go in: in parts, each of which is whole. Between two of them it
 * can be stopped, and it goes on with what is left; a letter that was replayed twice has one effect.
 */
export function useReplay(ids: readonly string[]) {
  const ipc = useIpc();
  const { reread } = useLetterCalls();
  const [state, setState] = useState(NOTHING);
  const stop = useRef<AbortController | null>(null);
  const part = (change: Partial<Replay>) => setState((before) => ({ ...before, ...change }));

  const run = async (
    work: "rehearsal" | "replay",
    list: readonly string[],
    call: (some: readonly string[]) => Promise<LettersReply>,
  ) => {
    const stopping = new AbortController();
    stop.current = stopping;
    part({ work, problem: null });
    const into = work === "rehearsal" ? "foreseen" : "done";
    try {
      for (const some of parts(list)) {
        for (let left = some; left.length > 0 && !stopping.signal.aborted; ) {
          const { letters, wait_ms: waitMs } = await call(left);
          setState((before) => ({
            ...before,
            [into]: new Map([...before[into], ...letters.map((each) => [each.id, each] as const)]),
          }));
          if (waitMs === null) break;
          const told = new Set(letters.map(({ id }) => id));
          left = left.filter((id) => !told.has(id));
          part({ goesOnAtMs: performance.now() + waitMs });
          await passed(waitMs, stopping.signal);
          part({ goesOnAtMs: null });
        }
        if (stopping.signal.aborted) break;
      }
    } catch (thrown) {
      part({ problem: toCommandError(thrown).message });
    }
    part({ work: null, goesOnAtMs: null });
    if (work === "replay") void reread();
  };

  const rehearse = () => {
    setState(NOTHING);
    return run("rehearsal", ids, (some) => ipc.rehearseLetters(some));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is frozen, and looked at once
  useEffect(() => {
    void rehearse();
    return () => stop.current?.abort();
  }, []);

  const passing = ids.filter((id) => state.foreseen.get(id)?.passes === true);
  const left = passing.filter((id) => !state.done.has(id));
  return {
    ...state,
    passing,
    left,
    rehearse,
    replay: () => run("replay", left, (some) => ipc.replayLetters(some)),
    stop: () => stop.current?.abort(),
  };
}

/** A wait that ends early when it is aborted. */
function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
