/** `TEST_TIMES=3` plays so many times as many random scenarios as the quick suite does. */
const TIMES = Number(process.env['TEST_TIMES'] ?? 1);

/** How often something random is played: as often as here, as long as nobody asks for more. */
export function times(count: number): number {
  return count * TIMES;
}
