/**
 * The name that looks most like a misspelt one, or undefined when none is close: at most a third of its letters may
 * differ, whether they are small or capital. Of equally close names the first.
 */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.floor(misspelt.length / 3) + 1;
  for (const name of names) {
    // The difference in length is a lower bound of the distance: most names are out at once.
    if (Math.abs(name.length - misspelt.length) >= bestDistance) continue;
    const distance = editDistance(misspelt.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Letters to insert, delete, replace, or swap with the next one, to get from one word to the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
