import { useEffect, useRef } from "react";
import styles from "./Announcer.module.css";
import { announce, useAnnouncement } from "./announcements";

/** A range that grows key by key is told once it rests. */
const RESTS_AFTER_MS = 500;

interface AnnouncerProps {
  selected: number;
  shown: number;
  total: number;
  hidden: number;
  /** In groups that are collapsed. */
  folded: number;
}

/** Tells a screen reader how much is selected, when that has changed and rests. */
export function Announcer(props: AnnouncerProps) {
  const text = useAnnouncement((state) => state.text);
  const words = selectionWords(props);
  const said = useRef(words);
  useEffect(() => {
    if (words === said.current) return;
    const timer = setTimeout(() => {
      said.current = words;
      announce(words);
    }, RESTS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <div className={styles.spoken} role="status" data-testid="announcer">
      {text}
    </div>
  );
}

/** "Select all" takes what the filter shows, collapsed groups included, and says so. */
export function selectionWords(facts: AnnouncerProps): string {
  const { folded } = facts;
  const words = countWords(facts);
  return folded === 0
    ? words
    : `${words} ${folded} of them ${folded === 1 ? "is" : "are"} in collapsed groups.`;
}

function countWords({ selected, shown, total, hidden }: AnnouncerProps): string {
  if (selected === 0) return "Nothing is selected.";
  if (hidden > 0) return `${selected} selected, ${hidden} of them hidden by the filter.`;
  if (selected === shown && shown < total) {
    return `${selected} selected: all that the filter shows. ${total - shown} more are in the deck and not selected.`;
  }
  return selected === total ? `All ${total} selected.` : `${selected} of ${shown} selected.`;
}
