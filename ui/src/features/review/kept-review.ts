import { useEffect, useState } from "react";
import { uiState } from "../../components/ui-state";
import { readSetup } from "../views/read-setup";
import type { Setup } from "../views/setup";
import { useViews } from "../views/views-store";
import { useReview } from "./review-store";
import { NOTHING_SELECTED } from "./selection";

const NAME = "review";
/** A range that grows key by key is kept once it rests. */
const KEEP_AFTER_MS = 300;
/** The bound of a deck: a selection cannot be longer. */
const MOST_SELECTED = 5_000;

interface Kept {
  current: string;
  setup: Setup;
  collapsed: string[];
  cursor: string | null;
  selected: string[];
}

/**
 * View, filter, selection and cursor outlive the window: they come back after a crash, before the first row is drawn, and are kept
 * whenever they have changed. What is selected and has left the deck meanwhile is dropped when the deck has been read.
 */
export function useKeptReview(): void {
  useState(restoreOnce);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keepSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(keep, KEEP_AFTER_MS);
    };
    const stops = [useReview.subscribe(keepSoon), useViews.subscribe(keepSoon)];
    return () => {
      for (const stop of stops) stop();
      clearTimeout(timer);
      keep();
    };
  }, []);
}

let restored = false;

function restoreOnce(): null {
  if (!restored) {
    restored = true;
    restoreReview();
  }
  return null;
}

export function restoreReview(): void {
  const kept = uiState.read(NAME, readKept);
  useViews.getState().load(kept === null ? null : { current: kept.current, setup: kept.setup });
  if (kept === null) return;
  useViews.setState({ collapsed: new Set(kept.collapsed) });
  const selected = new Set(kept.selected);
  useReview.getState().select(() => ({
    ...NOTHING_SELECTED,
    cursor: kept.cursor,
    anchor: kept.cursor,
    base: selected,
    selected,
  }));
}

function keep(): void {
  const { cursor, selected } = useReview.getState().selection;
  const { current, setup, collapsed } = useViews.getState();
  const kept: Kept = { current, setup, collapsed: [...collapsed], cursor, selected: [...selected] };
  uiState.write(NAME, kept);
}

function readKept(value: unknown): Kept | null {
  if (typeof value !== "object" || value === null) return null;
  const { current, setup, collapsed, cursor, selected } = value as Record<string, unknown>;
  if (typeof current !== "string") return null;
  return {
    current,
    setup: readSetup(setup),
    collapsed: texts(collapsed),
    cursor: typeof cursor === "string" ? cursor : null,
    selected: texts(selected),
  };
}

function texts(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each): each is string => typeof each === "string").slice(0, MOST_SELECTED);
}
