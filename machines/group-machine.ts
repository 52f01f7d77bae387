import { setup } from 'xstate';
import type { GroupState } from './model/group.ts';
import { step } from './step.ts';

/** What the state of a group follows from; every fact is known without looking at all members. */
export type GroupEvent =
  | {
      readonly type: 'SETTLED';
      readonly memberCount: number;
      readonly topologyReady: boolean;
      readonly groupEpoch: number;
      readonly assignmentEpoch: number;
      /** Members that are not reconciled to the assignment epoch (GS-1). */
      readonly unsettledMembers: number;
    }
  | { readonly type: 'DELETED' };

const machine = setup({
  types: { events: {} as GroupEvent },
  guards: {
    hasNoMembers: ({ event }) => event.type === 'SETTLED' && event.memberCount === 0,
    topologyIsNotReady: ({ event }) => event.type === 'SETTLED' && !event.topologyReady,
    targetIsBehind: ({ event }) =>
      event.type === 'SETTLED' && event.assignmentEpoch < event.groupEpoch,
    membersAreMoving: ({ event }) => event.type === 'SETTLED' && event.unsettledMembers > 0,
  },
});

/** First match wins: coordination, section 5. */
const settled = [
  { guard: 'hasNoMembers', target: 'Empty' },
  { guard: 'topologyIsNotReady', target: 'NotReady' },
  { guard: 'targetIsBehind', target: 'Assigning' },
  { guard: 'membersAreMoving', target: 'Reconciling' },
  { target: 'Stable' },
] as const;

/** The life of a streams group. SETTLED follows every applied record; only an empty group can be deleted (GS-4). */
export const groupMachine = machine.createMachine({
  id: 'group',
  initial: 'Empty',
  states: {
    Empty: { on: { SETTLED: settled, DELETED: 'Dead' } },
    NotReady: { on: { SETTLED: settled } },
    Assigning: { on: { SETTLED: settled } },
    Reconciling: { on: { SETTLED: settled } },
    Stable: { on: { SETTLED: settled } },
    Dead: { type: 'final' },
  },
});

/** The state of a group after an event (coordination, section 5). */
export function nextGroupState(current: GroupState, event: GroupEvent): GroupState {
  return step(groupMachine, current, event);
}
