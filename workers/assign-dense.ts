import { ALGORITHMS, type Dense } from './dense.ts';
import { assignAsKafka } from './kafka-sticky.ts';
import { assignSticky } from './sticky.ts';

/** Runs the algorithm that the problem names; fills the result arrays, whatever stood in them and in the scratch. */
export function assignDense(dense: Dense): void {
  if (ALGORITHMS[dense.facts.algorithm] === 'kafka_sticky') assignAsKafka(dense);
  else assignSticky(dense);
}
