import type { Dense } from './dense.ts';
import { explainMoves } from './explain.ts';
import { takeFigures } from './figures.ts';
import { tallyRun } from './tally.ts';

/** After a run: says why what moved is where it is, and takes its measures. */
export function lookBack(dense: Dense): void {
  const tally = tallyRun(dense);
  explainMoves(dense, tally);
  takeFigures(dense, tally);
}
