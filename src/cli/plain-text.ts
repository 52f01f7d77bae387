/**
 * Text whose control characters are written as escapes, as JSON has them: names come from clients and files, and a terminal
 * obeys what is in them. Lines and tabs stay.
 */
export function plainText(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, escaped);
}

/** As {@link plainText}, in one line. */
export function plainEntry(text: string): string {
  return text.replace(/\p{Cc}/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
