/** As much of a text as fits into a sentence: a name may have ten thousand characters. */
export function shortened(text: string, most = 80): string {
  const characters = [...text.slice(0, 4 * most)];
  return text.length > most && characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}
