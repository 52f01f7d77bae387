import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { RefinerInput } from '../../machines/decide/refine/refine.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { UNHEARD_MEMBER } from '../../machines/model/empty.ts';
import { UNREFINED } from '../../machines/model/refinement.ts';
import type { DerivedRefinement } from '../../machines/model/soft.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import { plain, refineSoundly } from '../support/refiner.ts';
import { checkRefinement } from '../support/refiner-laws.ts';

/**
 * Holds every refinement of a coordinator to the laws, and to what is found from all members, their reports read backwards
 * (P11). To be called after each decision.
 */
export class RefinementWatch {
  #last: DerivedRefinement | undefined;
  /** How many refinements were held to the laws in which tasks move. */
  checked = 0;

  look({ soft }: GroupSlot): void {
    const { derived } = soft;
    const before = this.#last;
    this.#last = derived;
    if (derived === undefined || derived === before || derived.refinement === UNREFINED) return;
    const input = inputOf(derived, soft.members, before?.refinement.waits ?? UNREFINED.waits);
    checkRefinement(input, derived.refinement);
    const [found, again] = [plain(derived.refinement), plain(refineSoundly(input))];
    // Where they differ, chai says how.
    if (!isDeepStrictEqual(found, again)) expect(found, 'P11').to.deep.equal(again);
    this.checked++;
  }
}

/** What the refinement follows from, told of every member and backwards. */
function inputOf(
  { members, targets, configured, limits }: DerivedRefinement,
  heard: GroupSlot['soft']['members'],
  waits: RefinerInput['waits'],
): RefinerInput {
  return {
    subtopologies: configured?.subtopologies ?? [],
    members: [...members.values()]
      .sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
      .map(({ memberId, processId, assigned, pendingRevocation }): RefinerMember => {
        const said = heard.get(memberId) ?? UNHEARD_MEMBER;
        return {
          memberId,
          processId,
          assigned,
          revokedWarmups: pendingRevocation.warmup,
          target: targets.get(memberId) ?? NO_TASKS_BY_ROLE,
          taskOffsets: said.taskOffsets.toReversed(),
          taskEndOffsets: said.taskEndOffsets.toReversed(),
          reportedAtMs: said.reportedAtMs,
          reportsCopies: said.heartbeatVersion === undefined ? 'unknown' : 'yes',
        };
      }),
    isPart: false,
    waits,
    ...limits,
  };
}
