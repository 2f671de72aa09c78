const NO_MATCH = 0;

/**
 * How well `typed` fits `text`: 0 when its letters are not in it in order. A whole word beats the beginning of one, that beats a part
 * of the text, and that beats scattered letters.
 */
export function fitness(typed: string, text: string): number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const within = text.toLowerCase();
  let least = 4;
  for (const word of words) {
    const fit = wordFitness(word, within);
    if (fit === NO_MATCH) return NO_MATCH;
    least = Math.min(least, fit);
  }
  return least;
}

function wordFitness(word: string, text: string): number {
  const starts = text.split(/[^\p{L}\p{N}]+/u);
  if (starts.includes(word)) return 4;
  if (starts.some((each) => each.startsWith(word))) return 3;
  if (text.includes(word)) return 2;
  let place = 0;
  for (const letter of word) {
    place = text.indexOf(letter, place) + 1;
    if (place === 0) return NO_MATCH;
  }
  return 1;
}

/** What fits, the best first, and otherwise in its own order. */
export function fitting<T>(typed: string, all: readonly T[], textOf: (each: T) => string): T[] {
  return all
    .map((each) => ({ each, fit: fitness(typed, textOf(each)) }))
    .filter(({ fit }) => fit !== NO_MATCH)
    .toSorted((a, b) => b.fit - a.fit)
    .map(({ each }) => each);
}
