import { expect } from 'chai';
import { reconcile } from '../../machines/decide/reconcile.ts';
import { moveHoldings } from '../../machines/holders.ts';
import { newGroup, newMember } from '../../machines/model/empty.ts';
import type { Member } from '../../machines/model/member.ts';
import { ownedSince } from '../../machines/model/task-list.ts';
import type { HeldTasks, TasksByRole } from '../../machines/model/tasks.ts';
import { readTasks, writeTasks } from '../support/task-notation.ts';

/** `active|standby|warmup` as tasks. */
function roles(text: string): TasksByRole {
  const [active = '[]', standby = '[]', warmup = '[]'] = text.split('|');
  return { active: readTasks(active), standby: readTasks(standby), warmup: readTasks(warmup) };
}
function held(text: string, epoch: number): HeldTasks {
  const { active, standby, warmup } = roles(text);
  return { active: ownedSince(active, epoch), standby, warmup };
}

type Given = {
  /** State, ME and PE: `stable 2/1`. */
  readonly is?: string;
  readonly has?: string;
  readonly owes?: string;
  readonly target: string;
  readonly epoch?: number;
  /** Undefined: it did not say. */
  readonly owns?: string;
  /** What others hold, by process: `p1`'s are its own process's. */
  readonly others?: Readonly<Record<string, string>>;
};

const STATES = {
  stable: 'stable',
  unrevoked: 'unrevokedTasks',
  unreleased: 'unreleasedTasks',
  unknown: 'unknown',
} as const;

function memberOf({ is = 'stable 2/1', has = '[]', owes = '[]' }: Given): Member {
  const [word = '', epochs = ''] = is.split(' ');
  const [memberEpoch = 0, previousMemberEpoch = 0] = epochs.split('/').map(Number);
  return {
    ...newMember('A'),
    processId: 'p1',
    state: STATES[word as keyof typeof STATES],
    memberEpoch,
    previousMemberEpoch,
    assigned: held(has, 2),
    pendingRevocation: held(owes, 2),
  };
}

/** `unrevoked 2/2 has 0:[0]|[]|[] owes 0:[1]|[]|[]`. */
function outcome(given: Given): string {
  const member = memberOf(given);
  let holders = moveHoldings(newGroup('g').holders, undefined, member);
  for (const [processId, tasks] of Object.entries(given.others ?? {})) {
    const other = { processId, assigned: held(tasks, 1), pendingRevocation: held('[]', 0) };
    holders = moveHoldings(holders, undefined, other);
  }
  const { member: after } = reconcile({
    member,
    assignmentEpoch: given.epoch ?? 3,
    target: roles(given.target),
    owned: given.owns === undefined ? undefined : roles(given.owns),
    holders,
  });
  if (after === member) return 'same';
  const [state] = Object.entries(STATES).find(([, name]) => name === after.state) ?? [];
  const show = ({ active, standby, warmup }: HeldTasks) =>
    [active, standby, warmup].map(writeTasks).join('|');
  const epochs = `${after.memberEpoch}/${after.previousMemberEpoch}`;
  const owes = show(after.pendingRevocation);
  return `${state} ${epochs} has ${show(after.assigned)}${owes === '[]|[]|[]' ? '' : ` owes ${owes}`}`;
}

const TABLE: readonly (readonly [string, Given, string])[] = [
  [
    'REC-1 a member at the target is left alone',
    { is: 'stable 3/2', has: '0:[0]', target: '0:[1]' },
    'same',
  ],
  [
    'OUT-2 free tasks are given, the epoch becomes the target’s',
    { has: '0:[0]', target: '0:[0-1]' },
    'stable 3/2 has 0:[0-1]|[]|[]',
  ],
  [
    'OUT-4 nothing to do but the epoch',
    { has: '0:[0]', target: '0:[0]' },
    'stable 3/2 has 0:[0]|[]|[]',
  ],
  [
    'OUT-1 what is not in the target is to be given up first',
    { has: '0:[0-1]', target: '0:[0]' },
    'unrevoked 2/2 has 0:[0]|[]|[] owes 0:[1]|[]|[]',
  ],
  [
    'REC-7 nothing is added while something is owed',
    { has: '0:[0-1]', target: '0:[0,5]' },
    'unrevoked 2/2 has 0:[0]|[]|[] owes 0:[1]|[]|[]',
  ],
  [
    'REC-8 a revocation is confirmed in the step that decides it',
    { has: '0:[0-1]', target: '0:[0,5]', owns: '0:[0]' },
    'stable 3/2 has 0:[0,5]|[]|[]',
  ],
  [
    'REC-2 a report that still has the task confirms nothing',
    { has: '0:[0-1]', target: '0:[0]', owns: '0:[0-1]' },
    'unrevoked 2/2 has 0:[0]|[]|[] owes 0:[1]|[]|[]',
  ],
  [
    'OUT-3 BLK-A another process holds it: wait',
    { target: '0:[0]', others: { p2: '0:[0]' } },
    'unreleased 3/2 has []|[]|[]',
  ],
  [
    'OUT-2 what is free is given while the rest waits',
    { target: '0:[0-1]', others: { p2: '0:[0]' } },
    'unreleased 3/2 has 0:[1]|[]|[]',
  ],
  [
    'BLK-A the own process holds it as standby',
    { target: '0:[0]', others: { p1: '[]|0:[0]' } },
    'unreleased 3/2 has []|[]|[]',
  ],
  [
    'BLK-A the own process holds it as warm-up',
    { target: '0:[0]', others: { p1: '[]|[]|0:[0]' } },
    'unreleased 3/2 has []|[]|[]',
  ],
  [
    'BLK-N copies of other processes do not block',
    { target: '0:[0]', others: { p2: '[]|0:[0]' } },
    'stable 3/2 has 0:[0]|[]|[]',
  ],
  [
    'BLK-S a standby beside the active task of the process',
    { target: '[]|0:[0]', others: { p1: '0:[0]' } },
    'unreleased 3/2 has []|[]|[]',
  ],
  [
    'BLK-S a standby beside a standby of the process',
    { target: '[]|0:[0]', others: { p1: '[]|0:[0]' } },
    'unreleased 3/2 has []|[]|[]',
  ],
  [
    'BLK-N a standby beside holders elsewhere',
    { target: '[]|0:[0]', others: { p2: '0:[0]|[]' } },
    'stable 3/2 has []|0:[0]|[]',
  ],
  [
    'BLK-W a warm-up beside a copy of the process',
    { target: '[]|[]|0:[0]', others: { p1: '[]|0:[0]' } },
    'unreleased 3/2 has []|[]|[]',
  ],
  [
    'BLK-N a warm-up beside holders elsewhere',
    { target: '[]|[]|0:[0]', others: { p2: '0:[0]|[]' } },
    'stable 3/2 has []|[]|0:[0]',
  ],
  [
    'ROL-1 active to standby: the standby at once, the active owed',
    { has: '0:[0-1]', target: '0:[0]|0:[1]' },
    'unrevoked 2/2 has 0:[0]|0:[1]|[] owes 0:[1]|[]|[]',
  ],
  [
    'ROL-1 confirmed in the same heartbeat',
    { has: '0:[0-1]', target: '0:[0]|0:[1]', owns: '0:[0]|0:[1]' },
    'stable 3/2 has 0:[0]|0:[1]|[]',
  ],
  [
    'ROL-2 standby to warm-up in one step',
    { has: '[]|0:[0]', target: '[]|[]|0:[0]' },
    'stable 3/2 has []|[]|0:[0]',
  ],
  [
    'ROL-2 warm-up to standby in one step',
    { has: '[]|[]|0:[0]', target: '[]|0:[0]' },
    'stable 3/2 has []|0:[0]|[]',
  ],
  [
    'ROL-2 also while something is owed',
    { has: '0:[5]|0:[0]', target: '[]|[]|0:[0]' },
    'unrevoked 2/2 has []|[]|0:[0] owes 0:[5]|[]|[]',
  ],
  [
    'ROL-3 standby to active when nobody has it',
    { has: '[]|0:[0]', target: '0:[0]' },
    'stable 3/2 has 0:[0]|[]|[]',
  ],
  [
    'ROL-3 warm-up to active when nobody has it',
    { has: '[]|[]|0:[0]', target: '0:[0]' },
    'stable 3/2 has 0:[0]|[]|[]',
  ],
  [
    'ROL-3 the standby stays while the owner keeps the task',
    { has: '[]|0:[0]', target: '0:[0]', others: { p2: '0:[0]' } },
    'unreleased 3/2 has []|0:[0]|[]',
  ],
  [
    'ROL-3 the own revocations come first',
    { has: '0:[5]|0:[0]', target: '0:[0]' },
    'unrevoked 2/2 has []|0:[0]|[] owes 0:[5]|[]|[]',
  ],
  [
    'REC-3 a member that owes stays where it is until it says so',
    { is: 'unrevoked 2/2', has: '0:[0]', owes: '0:[1]', target: '0:[0]', owns: '0:[0-1]' },
    'same',
  ],
  [
    'REC-3 silence confirms nothing',
    { is: 'unrevoked 2/2', has: '0:[0]', owes: '0:[1]', target: '0:[0]' },
    'same',
  ],
  [
    'REC-3 confirmed, and nothing else to do',
    { is: 'unrevoked 2/2', has: '0:[0]', owes: '0:[1]', target: '0:[0]', owns: '0:[0]' },
    'stable 3/2 has 0:[0]|[]|[]',
  ],
  [
    'REC-9 confirmed, but a newer target takes more: one epoch up',
    { is: 'unrevoked 2/2', has: '0:[0]', owes: '0:[1]', target: '[]', epoch: 5, owns: '0:[0]' },
    'unrevoked 3/2 has []|[]|[] owes 0:[0]|[]|[]',
  ],
  [
    'BLK-O a task given back by the newer target returns one heartbeat later',
    {
      is: 'unrevoked 2/2',
      has: '0:[0]',
      owes: '0:[1]',
      target: '0:[0-1]',
      epoch: 5,
      owns: '0:[0]',
    },
    'unreleased 5/2 has 0:[0]|[]|[]',
  ],
  [
    'REC-6 a member that goes on waiting writes its epoch as previous once',
    { is: 'unreleased 3/0', target: '0:[0]', others: { p2: '0:[0]' } },
    'unreleased 3/3 has []|[]|[]',
  ],
  [
    'REC-6 and then nothing',
    { is: 'unreleased 3/3', target: '0:[0]', others: { p2: '0:[0]' } },
    'same',
  ],
  [
    'UNRELEASED its task is free now',
    { is: 'unreleased 3/3', target: '0:[0]' },
    'stable 3/3 has 0:[0]|[]|[]',
  ],
  [
    'UNRELEASED a newer target takes some',
    { is: 'unreleased 3/3', has: '0:[0]', target: '[]', epoch: 4 },
    'unrevoked 3/3 has []|[]|[] owes 0:[0]|[]|[]',
  ],
  [
    'REC-12 an unknown state goes on from the target epoch',
    { is: 'unknown 2/1', target: '0:[0]', owns: '[]' },
    'stable 3/2 has 0:[0]|[]|[]',
  ],
];

describe('reconcile()', () => {
  for (const [title, given, expected] of TABLE) {
    it(title, () => {
      expect(outcome(given)).to.equal(expected);
    });
  }

  it('keeps the epoch since which a task is owned; a new one dates from the target (REC-5)', () => {
    const given: Given = { has: '0:[0,2]', target: '0:[0-1]' };
    const { member } = reconcile({
      member: memberOf(given),
      assignmentEpoch: 3,
      target: roles(given.target),
      owned: roles('0:[0]'),
      holders: newGroup('g').holders,
    });
    expect(member.assigned.active).to.deep.equal([
      { subtopologyId: '0', partitions: [0, 1], assignmentEpochs: [2, 3] },
    ]);
  });
});
