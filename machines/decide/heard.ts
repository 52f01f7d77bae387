import type { Context, GroupDecision, GroupSlot } from '../decision.ts';
import { Draft } from './draft.ts';
import { isAway } from './static-member.ts';

/**
 * A member was heard of, and its heartbeat could not be judged: it is told to come again (14) and keeps its place until
 * then (TMR-1).
 *
 * @returns undefined when there is no such member.
 */
export function decideHeard(
  slot: GroupSlot | undefined,
  memberId: string,
  context: Context,
): GroupDecision<undefined> | undefined {
  const member = slot?.group?.members.get(memberId);
  if (slot === undefined || member === undefined || isAway(member)) return undefined;
  const draft = new Draft(slot, context);
  draft.cause({ type: 'armSession', memberId, delayMs: context.settings.sessionTimeoutMs });
  return draft.done({ kind: 'answer', value: undefined });
}
