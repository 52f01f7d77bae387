import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import { Draft } from '../../machines/decide/draft.ts';
import { installResult } from '../../machines/decide/install.ts';
import { assignmentOf } from '../../machines/decide/member-fields.ts';
import { prepareTarget } from '../../machines/decide/prepare-target.ts';
import type { Context, GroupSlot } from '../../machines/decision.ts';
import type { RunProblem } from '../../machines/model/assignment.ts';
import { emptySlot, newMember } from '../../machines/model/empty.ts';
import type { Group } from '../../machines/model/group.ts';
import { ownedSince } from '../../machines/model/task-list.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { readRoles, writeRoles } from '../support/refiner.ts';
import { toEnd } from '../support/to-end.ts';

const GROUP = { groupId: 'G' } as const;

/** What a member has, and is to have; undefined = it leaves. */
type Step = {
  readonly memberId: string;
  readonly has: string | undefined;
  readonly target: string | undefined;
  readonly instanceId: string | null;
  /** Only what it has changes. */
  readonly keepsTarget?: boolean;
};

function recordsOf({
  memberId,
  has,
  target,
  instanceId,
  keepsTarget,
}: Step): readonly GroupRecord[] {
  const targetRecord: GroupRecord = {
    ...GROUP,
    type: 'targetMember',
    memberId,
    value: target === undefined ? null : readRoles(target),
  };
  if (has === undefined) {
    return [
      { ...targetRecord, value: null },
      { ...GROUP, type: 'currentAssignment', memberId, value: null },
      { ...GROUP, type: 'memberMetadata', memberId, value: null },
    ];
  }
  const { memberId: _, ...value } = { ...newMember(memberId), instanceId };
  const { active, standby, warmup } = readRoles(has);
  const assigned = { active: ownedSince(active, 1), standby, warmup };
  return [
    { ...GROUP, type: 'memberMetadata', memberId, value },
    {
      ...GROUP,
      type: 'currentAssignment',
      memberId,
      value: assignmentOf({ ...newMember(memberId), assigned }),
    },
    ...(keepsTarget === true ? [] : [targetRecord]),
  ];
}

function play(before: GroupSlot, steps: readonly Step[]): GroupSlot {
  return steps.flatMap(recordsOf).reduce(apply, before);
}

function existing({ group }: GroupSlot): Group {
  if (group === undefined) throw new Error('no group');
  return group;
}

/** Installs what a run that began with one group found, in what has become of it. */
function installIn(
  now: GroupSlot,
  then: Group,
  found: ReadonlyMap<string, TasksByRole>,
  { isPrepared }: { readonly isPrepared: boolean },
) {
  const memberIds = [...found.keys()];
  const result = {
    memberIds,
    installed: memberIds.map((memberId) => then.targets.get(memberId)),
    targets: [...found.values()],
    unassigned: [],
  };
  const run = {
    run: 1,
    groupEpoch: 2,
    topologyEpoch: 0,
    instanceIds: then.staticMembers,
    waitingMemberId: undefined,
  };
  const draft = new Draft(now, { nowMs: 5 } as Context);
  installResult(draft, run, {
    kind: 'assigned',
    incarnation: 1,
    run: 1,
    groupEpoch: 2,
    problem: { group: then } as RunProblem,
    result,
    ...(isPrepared && { prepared: toEnd(prepareTarget(then, result)).result }),
  });
  return draft.done({ kind: 'answer', value: undefined });
}

/** Read slowly: what everybody is to have, by the rules (OFF-3). */
function wantedOf(now: Group, then: Group, found: ReadonlyMap<string, TasksByRole>) {
  const wanted = new Map<string, string>();
  for (const { memberId, instanceId } of now.members.values()) {
    const replaced = instanceId === null ? undefined : then.staticMembers.get(instanceId);
    const isHandedOn = replaced !== undefined && !now.members.has(replaced);
    const from = then.members.has(memberId) ? memberId : isHandedOn ? replaced : undefined;
    wanted.set(memberId, writeRoles(found.get(from ?? '') ?? readRoles()));
  }
  return wanted;
}

const tasks = fc.constantFrom('[]|[]|[]', '0:[0]|[]|[]', '0:[1]|[]|[]', '[]|0:[0]|[]');
const step: fc.Arbitrary<Step> = fc.record({
  memberId: fc.constantFrom('A', 'B', 'C', 'D'),
  has: fc.option(tasks, { nil: undefined }),
  target: fc.option(tasks, { nil: undefined }),
  instanceId: fc.constantFrom(null, null, 'i', 'j'),
  keepsTarget: fc.boolean(),
});
const steps = fc.array(step, { maxLength: 8 });

describe('installResult()', () => {
  it('hands the target of a static member on to who replaced it (OFF-3b)', () => {
    const member = (memberId: string, instanceId: string | null): Step => ({
      memberId,
      instanceId,
      has: '[]|[]|[]',
      target: undefined,
    });
    const then = play(emptySlot('G'), [member('S1', 'i'), member('T', 'j'), member('gone', null)]);
    const now = play(emptySlot('G'), [member('S2', 'i'), member('T', 'j'), member('late', null)]);
    const found = new Map(
      ['S1', 'T', 'gone'].map((memberId, at) => [memberId, readRoles(`0:[${at}]|[]|[]`)]),
    );
    const { folded } = installIn(now, existing(then), found, { isPrepared: true });
    const installed = [...existing(folded ?? now).targets].map(([memberId, target]) => [
      memberId,
      writeRoles(target),
    ]);
    expect(Object.fromEntries(installed)).to.deep.equal({
      S2: writeRoles(readRoles('0:[0]|[]|[]')),
      T: writeRoles(readRoles('0:[1]|[]|[]')),
      late: writeRoles(readRoles()),
    });
  });

  it('gives everybody what the run found, whatever happened since it began (OFF-3, ASG-8, ASG-10)', () => {
    fc.assert(
      fc.property(
        steps,
        steps,
        fc.array(tasks, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        (first, since, given, isPrepared) => {
          const start = play(emptySlot('G'), [
            { memberId: 'A', has: '[]|[]|[]', target: undefined, instanceId: null },
            ...first,
          ]);
          const then = existing(start);
          const now = play(start, since);
          const found = new Map(
            [...then.members.keys()].map((id, at) => [id, readRoles(given[at])]),
          );
          const { records, folded } = installIn(now, then, found, { isPrepared });

          const after = existing(folded ?? now);
          expect(folded).to.deep.equal(records.reduce(apply, now));
          for (const [memberId, wanted] of wantedOf(existing(now), then, found)) {
            expect(writeRoles(after.targets.get(memberId) ?? readRoles()), memberId).to.equal(
              wanted,
            );
          }
          // A record for each that gets something else, by id, then the epoch.
          const changed = [...after.members.keys()].filter((id) => {
            const before = existing(now).targets.get(id);
            const is = after.targets.get(id);
            return before === undefined || writeRoles(before) !== writeRoles(is ?? readRoles());
          });
          expect(
            records.map((each) => ('memberId' in each ? each.memberId : each.type)),
          ).to.deep.equal([...changed.sort(), 'targetMetadata']);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('prepareTarget()', () => {
  it('stops after every so many members', () => {
    const ids = Array.from({ length: 450 }, (_, at) => `m${at}`);
    const members = ids.map(
      (memberId): Step => ({ memberId, has: '[]|[]|[]', target: undefined, instanceId: null }),
    );
    const then = existing(play(emptySlot('G'), members));
    const result = {
      memberIds: ids,
      installed: ids.map(() => undefined),
      targets: ids.map((_, at) => readRoles(`0:[${at}]|[]|[]`)),
      unassigned: [],
    };
    const { result: prepared, stops } = toEnd(prepareTarget(then, result));
    expect(prepared.changes).to.have.length(450);
    // Twice through the members.
    expect(stops).to.equal(2 + 2);
  });
});
