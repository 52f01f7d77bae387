import type { Context, Effect, GroupSlot } from '../decision.ts';

/**
 * The timers of a group that was just loaded: a full session for every member, a full rebalance timeout for
 * every member that owes tasks (LOAD-1, BA-13).
 */
export function decideLoaded(slot: GroupSlot, context: Context): readonly Effect[] {
  const effects: Effect[] = [];
  const delayMs = context.settings.sessionTimeoutMs;
  for (const member of slot.group?.members.values() ?? []) {
    const { memberId, memberEpoch, rebalanceTimeoutMs } = member;
    effects.push({ type: 'armSession', memberId, delayMs });
    if (member.state === 'unrevokedTasks') {
      effects.push({
        type: 'armRebalance',
        memberId,
        delayMs: Math.max(0, rebalanceTimeoutMs),
        memberEpoch,
      });
    }
  }
  return effects;
}
