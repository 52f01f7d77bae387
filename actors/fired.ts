import {
  decideInitialDelayOver,
  decideRebalanceExpired,
  decideSessionExpired,
} from '../machines/decide/timeouts.ts';
import type { Context, GroupDecision, GroupSlot } from '../machines/decision.ts';
import type { TimerPurpose } from './timer-purpose.ts';

type GroupTimer = Extract<TimerPurpose, { type: 'session' | 'rebalance' | 'initialDelay' }>;

/** What a timer of a group leads to (coordination section 10). */
export function decisionOfTimer(purpose: GroupTimer): {
  readonly cause: string;
  readonly memberId: string | null;
  readonly decide: (slot: GroupSlot, context: Context) => GroupDecision<undefined> | undefined;
} {
  switch (purpose.type) {
    case 'session':
      return {
        cause: 'session expired',
        memberId: purpose.memberId,
        decide: (slot, context) => decideSessionExpired(slot, purpose.memberId, context),
      };
    case 'rebalance':
      return {
        cause: 'rebalance timed out',
        memberId: purpose.memberId,
        decide: (slot, context) =>
          decideRebalanceExpired(slot, purpose.memberId, purpose.memberEpoch, context),
      };
    case 'initialDelay':
      return { cause: 'initial delay over', memberId: null, decide: decideInitialDelayOver };
  }
}
