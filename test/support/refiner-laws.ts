import { expect } from 'chai';
import type { RefinerMember } from '../../machines/decide/refine/mover.ts';
import type { RefinerInput } from '../../machines/decide/refine/refine.ts';
import type { Refinement } from '../../machines/model/refinement.ts';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
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

/**
 * Holds the laws H9 to H19 of assignors section 2 to one refinement, for members all of whose targets name members
 * that are there.
 */
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
  let warmups = 0;
  let planted = 0;
  let isOneParked = false;
  for (const key of new Set([...wanted.keys(), ...given.keys()])) {
    const [owner, ...more] = inRole(wanted.get(key), 'active');
    const [runner, ...others] = inRole(given.get(key), 'active');
    expect(more, `the input is sound: ${key}`).to.deep.equal([]);
    expect(others, `H9: ${key} is active once`).to.deep.equal([]);
    expect(runner === undefined, `H9: ${key} is active if it is to be`).to.equal(
      owner === undefined,
    );
    if (!isStateful(key)) {
      expect(given.get(key), `H12: ${key}`).to.deep.equal(wanted.get(key));
      continue;
    }
    const places = given.get(key) ?? [];
    const holdersBefore = now.get(key);
    const processes = places.map(({ member }) => member.processId);
    expect(new Set(processes).size, `H10: a process has one copy of ${key}`).to.equal(
      processes.length,
    );
    for (const member of inRole(places, 'warmup')) {
      warmups++;
      // Between members of one process a warm-up moves over: there is one at a time (BLK-W).
      const { processId } = member;
      if (!inRole(holdersBefore, 'warmup').some((each) => each.processId === processId)) planted++;
      expect(member, `H11: ${key} is warmed on its owner`).to.equal(owner);
      expect(runner, `H11: ${key} is not warmed where it runs`).to.not.equal(owner);
    }
    const holders = holdersBefore ?? [];
    if (runner !== owner) {
      const [holder] = inRole(holders, 'active');
      const isCopy = holders.some(({ member, role }) => member === runner && role !== 'active');
      const mayRun =
        runner === holder || (isCopy && runner !== undefined && isCaughtUp(input, runner, key));
      expect(mayRun, `H13, H14: ${key} stays where its state is`).to.equal(true);
    }
    const standbys = inRole(places, 'standby');
    const standbysWanted = inRole(wanted.get(key), 'standby');
    for (const member of standbys) {
      const isCopy = holders.some((place) => place.member === member && place.role !== 'active');
      expect(isCopy || standbysWanted.includes(member), `H13: standby of ${key}`).to.equal(true);
    }
    expect(standbys.length, `H18: standbys of ${key}`).to.be.at.most(standbysWanted.length + 1);
    const move = moves.get(key);
    if (move?.kind === 'staged' && move.warming === 'noRoom') isOneParked = true;
    if (move?.kind === 'granted' && move.because === 'caughtUp') {
      const isReady = holders.some(
        ({ member, role }) =>
          role !== 'active' &&
          member.processId === owner?.processId &&
          isCaughtUp(input, member, key),
      );
      expect(isReady, `H15: ${key} is granted because of a copy`).to.equal(true);
    }
    // The KIP: a caught-up warm-up becomes active or standby, or goes (WU-18).
    const ready = inRole(holders, 'warmup').filter((member) => isCaughtUp(input, member, key));
    for (const member of ready) {
      const still = inRole(places, 'warmup').includes(member);
      expect(still, `WU-18: a caught-up warm-up of ${key} stays none`).to.equal(false);
    }
  }
  expect(warmups, 'H11: the budget').to.be.at.most(warmupsMax);
  // A warm-up that is to go, or to be promoted, takes its place until then.
  const there = [...now.keys()]
    .filter(isStateful)
    .reduce((sum, key) => sum + inRole(now.get(key), 'warmup').length, 0);
  if (planted > 0) expect(there + planted, 'H11: the budget').to.be.at.most(warmupsMax);
  if (isOneParked) expect(there + planted, 'H16: the budget is used').to.be.at.least(warmupsMax);
  const isAtHome = [...wanted].every(([key, places]) => {
    const [owner] = inRole(places, 'active');
    return !isStateful(key) || inRole(now.get(key), 'active')[0] === owner;
  });
  if (isAtHome) {
    const target = slicesOf(input, { ...refinement, slices: new Map() });
    expect(slicesOf(input, refinement), 'H17').to.deep.equal(target);
  }
}
