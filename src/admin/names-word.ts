/** Whether a text names this very word: 0_2 is in "0_2 moves", neither in "10_2" nor in "0_21". */
export function namesWord(text: string, word: string): boolean {
  if (word === '') return true;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text[at - 1], text[at + word.length]];
    if (!isOfAWord(before) && !isOfAWord(after)) return true;
  }
  return false;
}

function isOfAWord(letter: string | undefined): boolean {
  return letter !== undefined && /[0-9A-Za-z_]/.test(letter);
}
