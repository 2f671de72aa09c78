import type { ReactNode } from "react";

/** Something to set or to look at, with the words it is found by. */
export interface Entry {
  id: string;
  words: string;
  shown: ReactNode;
}

export interface Section {
  id: string;
  title: string;
  entries: readonly Entry[];
}

/** What of the sections holds every word that is looked for; all of the chosen one while nothing is. */
export function found(sections: readonly Section[], chosen: string, search: string): Section[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sections.filter(({ id }) => id === chosen);
  return sections
    .map((section) => ({
      ...section,
      entries: section.entries.filter((entry) => {
        const text = `${section.title} ${entry.words}`.toLowerCase();
        return words.every((word) => text.includes(word));
      }),
    }))
    .filter(({ entries }) => entries.length > 0);
}
