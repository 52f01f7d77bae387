import type { RefinementBasis, Slices } from '../../model/refinement.ts';
import type { TasksByRole } from '../../model/tasks.ts';
import { hasSlice, sliceOf } from './assemble.ts';

/**
 * The slices that follow from a basis. Of a large group every member asks for its own at a heartbeat of its own, so each
 * is made then: nobody waits for those of all others.
 */
export class SlicesOfBasis implements Slices {
  readonly #basis: RefinementBasis;
  readonly #made: Map<string, TasksByRole>;

  /** @param made those that are known to be as an earlier basis had them. */
  constructor(basis: RefinementBasis, made: Map<string, TasksByRole> = new Map()) {
    this.#basis = basis;
    this.#made = made;
  }

  has(memberId: string): boolean {
    const member = this.#basis.survey.numbers.get(memberId);
    return member !== undefined && hasSlice(this.#basis, member);
  }

  get(memberId: string): TasksByRole | undefined {
    const known = this.#made.get(memberId);
    if (known !== undefined) return known;
    const member = this.#basis.survey.numbers.get(memberId);
    const slice = member === undefined ? undefined : sliceOf(this.#basis, member);
    if (slice !== undefined) this.#made.set(memberId, slice);
    return slice;
  }

  *[Symbol.iterator](): IterableIterator<[string, TasksByRole]> {
    for (const { memberId } of this.#basis.survey.members) {
      const slice = this.get(memberId);
      if (slice !== undefined) yield [memberId, slice];
    }
  }

  /** Those of a later basis of the same members. @param affected whose may be others by it. */
  with(later: RefinementBasis, affected: Iterable<number>): SlicesOfBasis {
    const made = new Map(this.#made);
    for (const member of affected) made.delete(later.survey.members[member]?.memberId ?? '');
    return new SlicesOfBasis(later, made);
  }
}
