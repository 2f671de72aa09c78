/**
 * Characters that are drawn as nothing, move what follows them, or reorder the line: control characters, line and paragraph
 * separators, joiners, soft hyphens, bidi marks, embeddings, overrides and isolates, tags, and halves of surrogate pairs.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const HIDDEN_EXCEPT_LINES = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

function name(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Text from outside, with what cannot be seen spelled out: `"a\u202Eb"` reads `a<U+202E>b`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, name);
}

/** The same for text of several lines, where a line break is seen as such. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN_EXCEPT_LINES, name);
}
