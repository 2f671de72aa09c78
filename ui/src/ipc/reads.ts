import { keepPreviousData, QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Changed } from "../generated/Changed";
import type { CommandError } from "../generated/CommandError";
import type { DecisionChoice } from "../generated/DecisionChoice";
import type { Figure } from "../generated/Figure";
import type { LetterQuery } from "../generated/LetterQuery";
import { coalesce } from "./coalesce";
import { useIpc } from "./ipc";

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: CommandError;
  }
}

/**
 * A view and the monotonic time from before it was asked for: its countdowns start there, so that they never end later than they
 * do on the other side.
 */
export interface Timed<T> {
  value: T;
  askedAtMs: number;
}

async function timed<T>(ask: () => Promise<T>): Promise<Timed<T>> {
  const askedAtMs = performance.now();
  return { value: await ask(), askedAtMs };
}

/** Reads are local and change only when told: nothing is polled, retried or paused for the lack of a network. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        retry: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always",
      },
      mutations: { networkMode: "always", retry: false },
    },
  });
}

export function useSession() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["session"], queryFn: () => timed(() => ipc.session()) });
}

export function useDeck() {
  const ipc = useIpc();
  // Every row counts down, so that none is ever equal to its predecessor: comparing 5,000 of them would be wasted.
  return useQuery({ queryKey: ["deck"], queryFn: () => timed(() => ipc.deck()), structuralSharing: false });
}

export function useDetail(id: string | null) {
  const ipc = useIpc();
  return useQuery({
    queryKey: ["detail", id],
    queryFn: () => ipc.detail(id ?? ""),
    enabled: id !== null,
    gcTime: 30_000,
  });
}

/** Control totals of `ids`. `revision` names that list: a list of 5,000 identifiers is too long for a key. */
export function useTotals(revision: string, ids: readonly string[]) {
  const ipc = useIpc();
  return useQuery({
    queryKey: ["totals", revision],
    queryFn: () => ipc.totals(ids),
    enabled: ids.length > 0,
    placeholderData: ids.length > 0 ? keepPreviousData : undefined,
    gcTime: 10_000,
  });
}

/** What is foreseen of a decision about `ids` with these amounts entered; `revision` names that list, and the last answer about it is kept. */
export function usePreflight(
  revision: string,
  ids: readonly string[],
  decision: DecisionChoice,
  figures: readonly Figure[],
) {
  const ipc = useIpc();
  return useQuery({
    queryKey: ["preflight", revision, figures],
    queryFn: () => ipc.preflight(ids, decision, figures),
    placeholderData: (last, query) => (query?.queryKey[1] === revision ? last : undefined),
    gcTime: 10_000,
  });
}

export function useReceipts() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["receipts"], queryFn: () => ipc.receipts() });
}

export function usePreferences() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["preferences"], queryFn: () => ipc.preferences() });
}

export function useFocus() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["focus"], queryFn: () => ipc.focus() });
}

/** Read anew each time it is shown: the database tells of no change. */
export function useBacklog() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["backlog"], queryFn: () => ipc.backlog(), staleTime: 0 });
}

/** Read anew each time it is shown: the database tells of no change. */
export function useCloseOverview() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["close"], queryFn: () => ipc.closeOverview(), staleTime: 0 });
}

/** Letters of some causes, or of all. Read anew each time they are shown: the database tells of no change. */
export function useLetters(query: LetterQuery) {
  const ipc = useIpc();
  return useQuery({
    queryKey: ["letters", query],
    queryFn: () => ipc.letters(query),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

export function useLetter(id: string | null) {
  const ipc = useIpc();
  return useQuery({
    queryKey: ["letter", id],
    queryFn: () => ipc.letter(id ?? ""),
    enabled: id !== null,
    staleTime: 0,
    gcTime: 30_000,
  });
}

export function useHistory(id: string) {
  const ipc = useIpc();
  return useQuery({ queryKey: ["history", id], queryFn: () => ipc.history(id), gcTime: 30_000 });
}

export function usePicture(id: string) {
  const ipc = useIpc();
  return useQuery({ queryKey: ["picture", id], queryFn: () => ipc.picture(id), gcTime: 300_000 });
}

export function useBatches() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["batches"], queryFn: () => ipc.batches() });
}

export function useBatch(batch: string) {
  const ipc = useIpc();
  return useQuery({ queryKey: ["batch", batch], queryFn: () => ipc.batch(batch) });
}

export function useOutboxHistory(key: string) {
  const ipc = useIpc();
  return useQuery({ queryKey: ["outbox-history", key], queryFn: () => ipc.outboxHistory(key) });
}

export function useSettings() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["settings"], queryFn: () => ipc.settings() });
}

export function useOutbox() {
  const ipc = useIpc();
  return useQuery({ queryKey: ["outbox"], queryFn: () => timed(() => ipc.outbox()) });
}

/** What is foreseen of the deck follows from the policy: heard of anew, it is read again. */
export function useRereadWithPolicy(asOf: string | null) {
  const client = useQueryClient();
  const seen = useRef(asOf);
  useEffect(() => {
    if (seen.current === asOf) return;
    seen.current = asOf;
    for (const key of ["deck", "detail", "preflight"]) {
      void client.invalidateQueries({ queryKey: [key] });
    }
  }, [client, asOf]);
}

/** Re-reads what changed and is on screen; what is not on screen is marked, and read when it is shown. */
export function useFollowChanges(onDrain: (changed: Changed) => void) {
  const ipc = useIpc();
  const client = useQueryClient();
  useEffect(() => {
    const reread = (...keys: string[]) =>
      coalesce(() => Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] }))));
    const rereadDeck = reread("deck", "detail", "totals", "preflight", "subtotals", "focus");
    const rereadOutbox = reread("outbox", "receipts", "batches", "batch", "outbox-history");
    const rereadSession = reread("session");
    let seen: Changed | null = null;
    let stop: (() => void) | null = null;
    let stopped = false;
    const follow = (changed: Changed) => {
      if (changed.deck !== seen?.deck) rereadDeck();
      if (changed.outbox !== seen?.outbox) rereadOutbox();
      if (changed.session !== seen?.session) rereadSession();
      seen = changed;
      onDrain(changed);
    };
    void ipc.onChanged(follow).then((unlisten) => {
      if (stopped) return unlisten();
      stop = unlisten;
      // What changed between the first reads and now was told to nobody.
      rereadDeck();
      rereadOutbox();
      rereadSession();
    });
    return () => {
      stopped = true;
      stop?.();
    };
  }, [ipc, client, onDrain]);
}
