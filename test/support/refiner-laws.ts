import { expect } from 'chai';
import type { RefinerInput } from '../../machines/decide/refine/refine.ts';
import type { Refinement } from '../../machines/model/refinement.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import { forEachTask, sameTasksByRole, taskKey } from '../../machines/model/task-list.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import { ROLES, type Role } from '../../machines/model/tasks.ts';
import { slicesOf } from './refiner.ts';

type Place = { readonly member: RefinerMember; readonly role: Role };

/** Who has each task in which role, read slowly from what `tasksOf` gives. */
export function placesOf(
  members: readonly RefinerMember[],
  tasksOf: (member: RefinerMember) => TasksByRole,
): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const member of members) {
    for (const role of ROLES) {
      forEachTask(tasksOf(member)[role], (subtopologyId, partition) => {
        const key = taskKey(subtopologyId, partition);
        places.set(key, [...(places.get(key) ?? []), { member, role }]);
      });
    }
  }
  return places;
}

const inRole = (places: readonly Place[] | undefined, role: Role): readonly RefinerMember[] =>
  (places ?? []).filter((place) => place.role === role).map(({ member }) => member);

/** How far a member says a task is behind, and whether that is caught up; read slowly. */
function isCaughtUp(input: RefinerInput, member: RefinerMember, key: string): boolean {
  const find = (list: RefinerMember['taskOffsets']) =>
    list.find((each) => taskKey(each.subtopologyId, each.partition) === key)?.offset;
  const offset = find(member.taskOffsets);
  const end = find(member.taskEndOffsets);
  const unknown = 2n ** 63n - 1n;
  if (offset === undefined || end === undefined || offset === unknown || end === unknown) {
    return false;
  }
  return end - offset <= input.acceptableRecoveryLag;
}

/** As an assertion, but cheap where it holds: there are a hundred thousands of them. */
function hold(isSo: boolean, law: () => string): void {
  if (!isSo) expect.fail(law());
}

/** Holds the laws H9 to H19 of assignors section 2 to one refinement. */
export function checkRefinement(input: RefinerInput, refinement: Refinement): void {
  const { members, warmupsMax } = input;
  const stateful = new Set(
    input.subtopologies.filter((each) => each.stateful).map(({ subtopologyId }) => subtopologyId),
  );
  const isStateful = (key: string) => stateful.has(key.slice(0, key.lastIndexOf('_')));
  const now = placesOf(members, ({ assigned }) => assigned);
  const wanted = placesOf(members, ({ target }) => target);
  const given = placesOf(
    members,
    ({ memberId, target }) => refinement.slices.get(memberId) ?? target,
  );
  const moves = new Map(
    refinement.moves.map((move) => [taskKey(move.subtopologyId, move.partition), move]),
  );
  for (const { memberId, target } of members) {
    const slice = refinement.slices.get(memberId);
    const isOff = slice === undefined || !sameTasksByRole(slice, target);
    hold(isOff, () => `${memberId} has a slice only if that is not its target`);
  }
  let warmups = 0;
  let planted = 0;
  let isOneParked = false;
  for (const key of new Set([...wanted.keys(), ...given.keys()])) {
    const [owner, ...more] = inRole(wanted.get(key), 'active');
    const [runner, ...others] = inRole(given.get(key), 'active');
    hold(more.length === 0, () => `the input is sound: ${key}`);
    hold(others.length === 0, () => `H9: ${key} is active once`);
    // Who has a task that is nobody's by the target goes on with it (WU-9.2).
    hold(owner === undefined || runner !== undefined, () => `H9: ${key} is active if it is to be`);
    if (!isStateful(key)) {
      expect(given.get(key), `H12: ${key}`).to.deep.equal(wanted.get(key));
      continue;
    }
    const places = given.get(key) ?? [];
    const holdersBefore = now.get(key);
    const processes = places.map(({ member }) => member.processId);
    const isAlone = new Set(processes).size === processes.length;
    hold(isAlone, () => `H10: a process has one copy of ${key}`);
    for (const member of inRole(places, 'warmup')) {
      warmups++;
      // Between members of one process a warm-up moves over: there is one at a time (BLK-W).
      const { processId } = member;
      if (!inRole(holdersBefore, 'warmup').some((each) => each.processId === processId)) planted++;
      hold(member === owner, () => `H11: ${key} is warmed on its owner`);
      hold(runner !== owner, () => `H11: ${key} is not warmed where it runs`);
    }
    const holders = holdersBefore ?? [];
    if (runner !== owner) {
      const [holder] = inRole(holders, 'active');
      const isCopy = holders.some(({ member, role }) => member === runner && role !== 'active');
      const mayRun =
        runner === holder || (isCopy && runner !== undefined && isCaughtUp(input, runner, key));
      hold(mayRun, () => `H13, H14: ${key} stays where its state is`);
    }
    const standbys = inRole(places, 'standby');
    const standbysWanted = inRole(wanted.get(key), 'standby');
    for (const member of standbys) {
      const isCopy = holders.some((place) => place.member === member && place.role !== 'active');
      hold(isCopy || standbysWanted.includes(member), () => `H13: standby of ${key}`);
    }
    hold(standbys.length <= standbysWanted.length + 1, () => `H18: standbys of ${key}`);
    const move = moves.get(key);
    if (move?.kind === 'staged' && move.warming === 'noRoom') isOneParked = true;
    if (move?.kind === 'granted' && move.because === 'caughtUp') {
      const isReady = holders.some(
        ({ member, role }) =>
          role !== 'active' &&
          member.processId === owner?.processId &&
          isCaughtUp(input, member, key),
      );
      hold(isReady, () => `H15: ${key} is granted because of a copy`);
    }
    // The KIP: a caught-up warm-up becomes active or standby, or goes (WU-18).
    const ready = inRole(holders, 'warmup').filter((member) => isCaughtUp(input, member, key));
    for (const member of ready) {
      const still = inRole(places, 'warmup').includes(member);
      hold(!still, () => `WU-18: a caught-up warm-up of ${key} stays none`);
    }
  }
  expect(warmups, 'H11: the budget').to.be.at.most(warmupsMax);
  // A warm-up that is to go, or to be promoted, takes its place until then.
  const there = [...now.keys()]
    .filter(isStateful)
    .reduce((sum, key) => sum + inRole(now.get(key), 'warmup').length, 0);
  if (planted > 0) expect(there + planted, 'H11: the budget').to.be.at.most(warmupsMax);
  if (isOneParked) expect(there + planted, 'H16: the budget is used').to.be.at.least(warmupsMax);
  const isAtHome = [...given.keys(), ...wanted.keys()].every((key) => {
    const [owner] = inRole(wanted.get(key), 'active');
    return !isStateful(key) || inRole(now.get(key), 'active')[0] === owner;
  });
  if (isAtHome) {
    const target = slicesOf(input, { ...refinement, slices: new Map() });
    expect(slicesOf(input, refinement), 'H17').to.deep.equal(target);
  }
}
