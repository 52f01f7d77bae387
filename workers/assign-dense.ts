import { assignBalanced } from './balanced.ts';
import { ALGORITHMS, type Dense } from './dense.ts';
import { assignHighlyAvailable } from './highly-available.ts';
import { assignAsKafka } from './kafka-sticky.ts';
import { assignSticky } from './sticky.ts';

const RUN: Readonly<Record<(typeof ALGORITHMS)[number], (dense: Dense) => void>> = {
  sticky: assignSticky,
  balanced: assignBalanced,
  highly_available: assignHighlyAvailable,
  kafka_sticky: assignAsKafka,
};

/** Runs the algorithm that the problem names; fills the result arrays, whatever stood in them and in the scratch. */
export function assignDense(dense: Dense): void {
  const name = ALGORITHMS[dense.facts.algorithm];
  if (name === undefined) throw new Error(`Cannot assign: no algorithm ${dense.facts.algorithm}`);
  RUN[name](dense);
}
