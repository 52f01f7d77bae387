import { at } from './dense.ts';
import type { ManyGroups } from './many-groups.ts';
import { hasRoom, isNewValue, limitOf, type RackPass } from './rack-pass.ts';
import { STALE } from './run.ts';

/** A pass that knows a shorter way where there are many groups of equal tags; undefined where they are few. */
export type DiversityPass = RackPass & { readonly many: ManyGroups | undefined };

/** No process brings a new value of the priority key. */
export const NO_NEW_VALUE = -1;
/** Some do, but none of them held the task before. */
export const NO_HOLDER = -2;

/**
 * Picks the member for a task's next standby so that its process brings a new value of the priority key, and of as many
 * lower keys as can be had, the earlier the key the more it counts. Groups of processes with room go first; diversity goes
 * before evenness where none of them has it. Among the processes that do equally well: who held the task before, then the
 * least loaded one.
 *
 * Works on groups of processes with equal tags: they pass or fail together.
 *
 * @param key the priority key, an index into the tag list.
 * @param holders whether those who held the task before go first among processes that do equally well, are the only ones
 *   to be taken, or are as good as any.
 * @returns a member, {@link NO_NEW_VALUE} or {@link NO_HOLDER}.
 *
 * Source: assignors 5.
 */
export function pickForDiversity(
  pass: DiversityPass,
  key: number,
  holders: 'first' | 'only' | 'ignored',
): number {
  const { dense, processes, many } = pass;
  const { size, groupBest } = dense;
  if (many !== undefined) {
    if (!many.hasNewValue(pass, key)) return NO_NEW_VALUE;
    const process = many.find(pass, key);
    if (process !== -1) {
      const holder = holders === 'ignored' ? -1 : previousHolder(pass, key, true);
      if (holder !== -1) return holder;
      return holders === 'only' ? NO_HOLDER : pass.members.least(process);
    }
  }
  let groupsIn = findGroups(pass, key, true);
  const isThereRoom = groupsIn > 0;
  if (!isThereRoom) groupsIn = findGroups(pass, key, false);
  if (groupsIn === 0) return NO_NEW_VALUE;
  for (let lower = key + 1; lower < size.tagKeys && groupsIn > 1; lower++) {
    groupsIn = keepGroupsWithNewValue(pass, lower, groupsIn);
  }

  if (holders !== 'ignored') {
    const holder = previousHolder(pass, BY_GROUP, isThereRoom);
    if (holder !== -1) return holder;
  }
  if (holders === 'only') return NO_HOLDER;
  let least = -1;
  for (let g = 0; g < size.tagGroups; g++) {
    const best = at(groupBest, g);
    if (best !== -1 && (least === -1 || processes.before(best, least))) least = best;
  }
  return pass.members.least(least);
}

/**
 * Fills `groupBest` with the least loaded process of each group that brings a new value of the key; its tags stand for
 * the group's, and its room.
 *
 * @returns how many groups there are.
 */
function findGroups(pass: RackPass, key: number, withRoom: boolean): number {
  const { dense, processes, task } = pass;
  const { size, groupBest } = dense;
  let groupsIn = 0;
  for (let g = 0; g < size.tagGroups; g++) {
    const best = processes.firstUnmarked(task, g);
    const isIn = best !== -1 && isNewValue(pass, best, key) && (!withRoom || hasRoom(pass, best));
    groupBest[g] = isIn ? best : -1;
    if (isIn) groupsIn++;
  }
  return groupsIn;
}

/** Leaves in only the groups that have a new value of the key, if there are any. */
function keepGroupsWithNewValue(pass: RackPass, key: number, groupsIn: number): number {
  const { groupBest, size } = pass.dense;
  let withNew = 0;
  for (let g = 0; g < size.tagGroups; g++) {
    const best = at(groupBest, g);
    if (best !== -1 && isNewValue(pass, best, key)) withNew++;
  }
  if (withNew === 0) return groupsIn;
  for (let g = 0; g < size.tagGroups; g++) {
    const best = at(groupBest, g);
    if (best !== -1 && !isNewValue(pass, best, key)) groupBest[g] = -1;
  }
  return withNew;
}

/**
 * The previous active, then the candidates by rank, if their process is in a group still in; lands on them if they have room.
 *
 * @param key whose values, with those of lower keys, were found new at the first look; {@link BY_GROUP}: `groupBest` tells
 *   which groups are in.
 */
function previousHolder(pass: DiversityPass, key: number, withRoom: boolean): number {
  const { task } = pass;
  const { prevActive, candStart, candMember } = pass.dense;
  const previous = at(prevActive, task);
  let landing = previous === -1 ? -1 : landingOn(pass, previous, key, withRoom);
  for (let c = at(candStart, task); landing === -1 && c < at(candStart, task + 1); c++) {
    landing = landingOn(pass, at(candMember, c), key, withRoom);
  }
  return landing;
}

const BY_GROUP = -1;

function landingOn(pass: DiversityPass, member: number, key: number, withRoom: boolean): number {
  const { dense } = pass;
  const process = at(dense.procOf, member);
  if (at(dense.marks, process) === pass.task || !isGroupIn(pass, process, key)) return -1;
  const limit = limitOf(pass, at(dense.tagGroup, process));
  const least = pass.members.least(process);
  // Of a process that is stale as a whole nobody takes a task, full or not.
  if (at(dense.count, least) >= (withRoom ? limit : STALE)) return -1;
  return at(dense.count, member) < limit ? member : least;
}

function isGroupIn(pass: DiversityPass, process: number, key: number): boolean {
  const { dense, processes, task, many } = pass;
  const group = at(dense.tagGroup, process);
  if (key === BY_GROUP || many === undefined) return at(dense.groupBest, group) !== -1;
  if (!many.isAsNew(pass, key, process)) return false;
  const best = processes.firstUnmarked(task, group);
  return best !== -1 && hasRoom(pass, best);
}
