import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyStateMachine } from 'xstate';
import { transition } from 'xstate';
import { charts } from '../../machines/charts.ts';
import type { DescriptionEvent, DescriptionState } from '../../machines/description-machine.ts';
import { nextDescriptionState } from '../../machines/description-machine.ts';
import type { GroupEvent } from '../../machines/group-machine.ts';
import { groupMachine, nextGroupState } from '../../machines/group-machine.ts';
import { memberMachine, nextMemberState } from '../../machines/member-machine.ts';
import type { GroupState } from '../../machines/model/group.ts';
import type { ShardEvent, ShardState } from '../../machines/shard-machine.ts';
import { nextShardState } from '../../machines/shard-machine.ts';
import { step } from '../../machines/step.ts';
import { times } from '../support/times.ts';

const small = fc.nat({ max: 3 });

const settled = fc.record({
  type: fc.constant('SETTLED' as const),
  memberCount: small,
  topologyReady: fc.boolean(),
  groupEpoch: small,
  assignmentEpoch: small,
  unsettledMembers: small,
});

const beaten = fc.record({
  type: fc.constant('HEARTBEAT' as const),
  letGo: fc.boolean(),
  mustRevoke: fc.boolean(),
  mustWait: fc.boolean(),
});

const bare = fc.constantFrom(
  ...[...charts.flatMap(({ machine }) => machine.events), 'NONSENSE']
    .filter((type) => type !== 'SETTLED' && type !== 'HEARTBEAT')
    .map((type) => ({ type })),
);

/** XState's own answer, which builds an actor for it. */
function slowly(machine: AnyStateMachine, current: string, event: { type: string }): string {
  const snapshot = machine.resolveState({ value: current, context: {} });
  return String(transition(machine, snapshot, event)[0].value);
}

describe('step()', () => {
  it('gives what transition() of XState gives, over random charts, states and events', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...charts),
        small,
        small,
        fc.oneof(settled, beaten, bare),
        ({ machine }, row, column, event) => {
          const states = Object.keys(machine.states);
          const current = states[(row * 4 + column) % states.length] ?? '';
          expect(step(machine, current, event)).to.equal(slowly(machine, current, event));
        },
      ),
      { numRuns: times(10_000) },
    );
  }).timeout(60_000);

  it('leaves a final state alone', () => {
    expect(step(groupMachine, 'Dead', { type: 'SETTLED' })).to.equal('Dead');
    expect(step(memberMachine, 'removed', { type: 'HEARTBEAT' })).to.equal('removed');
  });
});

describe('the group chart', () => {
  const live = fc.constantFrom<GroupState>(
    'Empty',
    'NotReady',
    'Assigning',
    'Reconciling',
    'Stable',
  );

  it('lands in the same state whatever state it came from', () => {
    fc.assert(
      fc.property(live, live, settled, (one, other, event) => {
        expect(nextGroupState(one, event)).to.equal(nextGroupState(other, event));
      }),
    );
  });

  const facts: Omit<GroupEvent & { type: 'SETTLED' }, 'type'> = {
    memberCount: 2,
    topologyReady: true,
    groupEpoch: 3,
    assignmentEpoch: 3,
    unsettledMembers: 0,
  };
  const table: readonly [GroupState, Partial<typeof facts>][] = [
    ['Stable', {}],
    ['Reconciling', { unsettledMembers: 1 }],
    ['Assigning', { assignmentEpoch: 2, unsettledMembers: 1 }],
    ['NotReady', { topologyReady: false, assignmentEpoch: 2 }],
    ['Empty', { memberCount: 0, topologyReady: false, assignmentEpoch: 2 }],
  ];
  for (const [state, change] of table) {
    it(`is ${state} with ${JSON.stringify(change)} (coordination, section 5)`, () => {
      expect(nextGroupState('Stable', { type: 'SETTLED', ...facts, ...change })).to.equal(state);
    });
  }

  it('is deleted only when empty (GS-4)', () => {
    expect(nextGroupState('Empty', { type: 'DELETED' })).to.equal('Dead');
    expect(nextGroupState('Stable', { type: 'DELETED' })).to.equal('Stable');
  });
});

describe('the member chart', () => {
  const event = { type: 'HEARTBEAT', letGo: true, mustRevoke: false, mustWait: false } as const;

  it('keeps a member that holds on to its tasks where it is (REC-3)', () => {
    const stays = { ...event, letGo: false, mustWait: true };
    expect(nextMemberState('unrevokedTasks', stays)).to.equal('unrevokedTasks');
  });

  it('asks for revocation before anything else (OUT-1 before OUT-2, REC-7)', () => {
    const next = nextMemberState('stable', { ...event, mustRevoke: true, mustWait: true });
    expect(next).to.equal('unrevokedTasks');
  });

  it('waits only when it owes nothing (OUT-3)', () => {
    expect(nextMemberState('unrevokedTasks', { ...event, mustWait: true })).to.equal(
      'unreleasedTasks',
    );
  });
});

describe('the shard chart', () => {
  const reach = (...events: readonly ShardEvent['type'][]): string =>
    events.reduce<ShardState>((state, type) => nextShardState(state, { type }), 'initial');

  it('answers only between a whole load and a close (BA-11)', () => {
    expect(reach('LOAD')).to.equal('loading');
    expect(reach('LOAD', 'LOADED')).to.equal('active');
    expect(reach('LOAD', 'LOADED', 'CLOSE')).to.equal('closed');
  });

  it('may try a failed load again, and comes back from no close (BA-11, BA-15)', () => {
    expect(reach('LOAD', 'LOAD_FAILED')).to.equal('failed');
    expect(reach('LOAD', 'LOAD_FAILED', 'LOAD', 'LOADED')).to.equal('active');
    expect(reach('LOAD', 'CLOSE', 'LOADED', 'LOAD')).to.equal('closed');
  });
});

describe('the description chart', () => {
  const reach = (...events: readonly DescriptionEvent['type'][]): string =>
    events.reduce<DescriptionState>((state, type) => nextDescriptionState(state, { type }), 'none');

  it('is uncertain from the beginning of an operation to its recorded end (SC-3)', () => {
    expect(reach('OPERATION_BEGUN')).to.equal('uncertain');
    expect(reach('OPERATION_BEGUN', 'STORED')).to.equal('stored');
    expect(reach('OPERATION_BEGUN', 'REFUSED')).to.equal('refused');
    expect(reach('OPERATION_BEGUN', 'STORED', 'OPERATION_BEGUN', 'ERASED')).to.equal('none');
  });

  it('never takes a late end for the end of something that was not begun', () => {
    expect(reach('STORED')).to.equal('none');
  });
});
