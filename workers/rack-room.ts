import { at, type Dense, isSet } from './dense.ts';
import { isOfKind } from './task-order.ts';

/**
 * Works out how many tasks a member may come to for the sake of racks, by tag group, into `dense.groupRoom`. Where all
 * tasks need a copy in a rack, since there are no more racks than copies, its members share just that: an even share of
 * everything would leave some tasks without.
 *
 * Actives are placed, standbys are not. A group that no rack binds gets 0: for it the quota holds.
 *
 * Source: assignors 5, section 3 (Q10 goes before evenness).
 */
export function findRackRoom(dense: Dense): void {
  const { size, tagGroup, tagValue, groupRoom, procCount } = dense;
  groupRoom.fill(0);
  const actives = statefulActives(dense);
  const fresh = freshMembers(dense);
  const statefulCount = actives.reduce((sum, each) => sum + each, 0);
  for (let key = 0; key < size.tagKeys; key++) {
    const values = new Map<number, { tasks: number; actives: number; members: number }>();
    for (let p = 0; p < size.processes; p++) {
      const value = at(tagValue, p * size.tagKeys + key);
      if (value === -1) continue;
      const sum = values.get(value) ?? { tasks: 0, actives: 0, members: 0 };
      sum.tasks += at(procCount, p);
      sum.actives += at(actives, p);
      sum.members += at(fresh, p);
      values.set(value, sum);
    }
    const inAllRacks = size.slots >= values.size - 1;
    for (let p = 0; p < size.processes; p++) {
      const sum = values.get(at(tagValue, p * size.tagKeys + key));
      if (sum === undefined || sum.members === 0) continue;
      const missing = inAllRacks ? statefulCount - sum.actives : 0;
      const room = Math.ceil((sum.tasks + missing) / sum.members);
      const group = at(tagGroup, p);
      groupRoom[group] = Math.max(at(groupRoom, group), room);
    }
  }
}

function statefulActives(dense: Dense): Int32Array {
  const { size, base, active, procOf } = dense;
  const counts = new Int32Array(size.processes);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, 'stateful')) continue;
    for (let task = at(base, s); task < at(base, s + 1); task++) {
      const owner = at(active, task);
      if (owner === -1) continue;
      const process = at(procOf, owner);
      counts[process] = at(counts, process) + 1;
    }
  }
  return counts;
}

function freshMembers({ size, procOf, frozen }: Dense): Int32Array {
  const counts = new Int32Array(size.processes);
  for (let m = 0; m < size.members; m++) {
    const process = at(procOf, m);
    if (!isSet(frozen, m)) counts[process] = at(counts, process) + 1;
  }
  return counts;
}
