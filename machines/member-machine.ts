import { setup } from 'xstate';
import type { MemberState } from './model/member.ts';
import { step } from './step.ts';

/** What the next state of a member follows from, once its tasks were compared with its target. */
export type MemberEvent =
  | {
      readonly type: 'HEARTBEAT';
      /** Nothing it was told to give up is among what it says it owns; true when it owes nothing (REC-2). */
      readonly letGo: boolean;
      /** The target takes tasks away that it has not let go of (OUT-1). */
      readonly mustRevoke: boolean;
      /** Tasks of its target are still held elsewhere (OUT-2, OUT-3). */
      readonly mustWait: boolean;
    }
  | { readonly type: 'REMOVED' };

const machine = setup({
  types: { events: {} as MemberEvent },
  guards: {
    hasNotLetGo: ({ event }) => event.type === 'HEARTBEAT' && !event.letGo,
    mustRevoke: ({ event }) => event.type === 'HEARTBEAT' && event.mustRevoke,
    mustWait: ({ event }) => event.type === 'HEARTBEAT' && event.mustWait,
  },
});

/** First match wins: the outcomes of a step (coordination, section 7). */
const stepped = [
  { guard: 'mustRevoke', target: 'unrevokedTasks' },
  { guard: 'mustWait', target: 'unreleasedTasks' },
  { target: 'stable' },
] as const;

/**
 * The life of a member. It keeps its tasks while it owes some (`unrevokedTasks`), and works with what it has
 * while others hold the rest (`unreleasedTasks`). `unknown` is a state written by a newer version (REC-12).
 */
export const memberMachine = machine.createMachine({
  id: 'member',
  initial: 'stable',
  states: {
    stable: { on: { HEARTBEAT: stepped, REMOVED: 'removed' } },
    unrevokedTasks: {
      on: {
        HEARTBEAT: [{ guard: 'hasNotLetGo', target: 'unrevokedTasks' }, ...stepped],
        REMOVED: 'removed',
      },
    },
    unreleasedTasks: { on: { HEARTBEAT: stepped, REMOVED: 'removed' } },
    unknown: {
      description: "read from a newer version's log",
      on: { HEARTBEAT: stepped, REMOVED: 'removed' },
    },
    removed: { type: 'final' },
  },
});

/** The state of a member after a heartbeat (coordination, section 7). */
export function nextMemberState(
  current: MemberState,
  event: MemberEvent & { readonly type: 'HEARTBEAT' },
): MemberState {
  return step(memberMachine, current, event);
}
