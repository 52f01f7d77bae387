import { decideLoaded } from '../machines/decide/loaded.ts';
import type { Context, GroupSlot } from '../machines/decision.ts';
import type { Slots } from './messages.ts';
import type { TimerPurpose } from './timer-purpose.ts';
import type { Timers } from './timers.ts';

// The length in front keeps a group's id and a member's from running into those of others.
export function sessionKey(groupId: string, memberId: string): string {
  return `s${groupId.length}:${groupId}${memberId}`;
}

export function rebalanceKey(groupId: string, memberId: string): string {
  return `r${groupId.length}:${groupId}${memberId}`;
}

export function delayKey(groupId: string): string {
  return `d${groupId}`;
}

export function waitKey(groupId: string): string {
  return `w${groupId}`;
}

/** Starts the timers of a shard that was just loaded (LOAD-1). */
export function armLoadedTimers(
  slots: Slots,
  timers: Timers<TimerPurpose>,
  context: (groupId: string) => Context,
): void {
  for (const slot of slots.values()) armGroup(slot, timers, context(slot.groupId));
}

/**
 * Brings a group's timers in step after its last changes were taken back: members that are no more lose theirs, members
 * that are there again get a whole period, as after a load.
 */
export function syncTimers(
  groupId: string,
  slot: GroupSlot | undefined,
  decided: GroupSlot | undefined,
  timers: Timers<TimerPurpose>,
  context: Context,
): void {
  for (const memberId of decided?.group?.members.keys() ?? []) {
    if (slot?.group?.members.has(memberId)) continue;
    timers.cancel(sessionKey(groupId, memberId));
    timers.cancel(rebalanceKey(groupId, memberId));
  }
  if (slot === undefined || !slot.soft.delaying) timers.cancel(delayKey(groupId));
  else if (!timers.has(delayKey(groupId))) {
    timers.arm(delayKey(groupId), context.settings.initialRebalanceDelayMs, {
      type: 'initialDelay',
      groupId,
    });
  }
  if (slot !== undefined) armGroup(slot, timers, context);
}

/** Arms what has to run and does not. A rebalance timer that runs for another epoch is harmless (section 10). */
function armGroup(slot: GroupSlot, timers: Timers<TimerPurpose>, context: Context): void {
  const { groupId } = slot;
  for (const effect of decideLoaded(slot, context)) {
    if (effect.type === 'armSession') {
      const key = sessionKey(groupId, effect.memberId);
      if (timers.has(key)) continue;
      timers.arm(key, effect.delayMs, { type: 'session', groupId, memberId: effect.memberId });
    } else if (effect.type === 'armRebalance') {
      const { memberId, memberEpoch } = effect;
      const purpose = { type: 'rebalance', groupId, memberId, memberEpoch } as const;
      timers.arm(rebalanceKey(groupId, memberId), effect.delayMs, purpose);
    }
  }
}
