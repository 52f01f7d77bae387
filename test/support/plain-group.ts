import type { Group, GroupState } from '../../machines/model/group.ts';
import type { PersistentMap } from '../../machines/model/persistent-map.ts';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';

/** A group as nothing but objects, arrays and values, in a fixed order: what two groups are compared by. */
export function plainGroup(group: Group | undefined): unknown {
  if (group === undefined) return undefined;
  return {
    ...group,
    members: plainMap(group.members),
    staticMembers: plainMap(group.staticMembers),
    targets: plainMap(group.targets),
    offTarget: plainMap(group.offTarget),
    stableMembersByEpoch: plainMap(group.stableMembersByEpoch),
    holders: plainHolders(group.holders),
  };
}

/** Entries by key, maps inside too. */
export function plainMap(map: PersistentMap<unknown>): unknown {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, plain(value)]);
}

function plainHolders(holders: Group['holders']): unknown {
  return {
    active: plainMap(holders.active),
    standby: plainMap(holders.standby),
    warmup: plainMap(holders.warmup),
  };
}

function plain(value: unknown): unknown {
  return value instanceof Map ? [...value].sort() : value;
}

/** The state by looking at every member (coordination, section 5). */
export function slowState(group: Group): GroupState {
  const members = [...group.members.values()];
  if (members.length === 0) return 'Empty';
  if (group.topology?.epoch !== group.validatedTopologyEpoch) return 'NotReady';
  if (group.groupEpoch > group.assignmentEpoch) return 'Assigning';
  const isSettled = members.every(
    ({ state, memberEpoch }) => state === 'stable' && memberEpoch === group.assignmentEpoch,
  );
  return isSettled ? 'Stable' : 'Reconciling';
}

/** Per task and role the processes of every member that has it, assigned or pending revocation. */
export function slowHolders(group: Group): {
  readonly active: ReadonlyMap<string, readonly string[]>;
  readonly copies: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
} {
  const active = new Map<string, string[]>();
  const copies = new Map<string, Map<string, string[]>>();
  for (const { memberId, processId, assigned, pendingRevocation } of group.members.values()) {
    for (const held of [assigned, pendingRevocation]) {
      forEachTask(held.active, (id, at) => {
        active.set(taskKey(id, at), [...(active.get(taskKey(id, at)) ?? []), memberId]);
      });
      for (const list of [held.active, held.standby, held.warmup]) {
        forEachTask(list, (id, at) => {
          const byProcess = copies.get(taskKey(id, at)) ?? new Map<string, string[]>();
          const members = byProcess.get(processId) ?? [];
          if (!members.includes(memberId)) byProcess.set(processId, [...members, memberId]);
          copies.set(taskKey(id, at), byProcess);
        });
      }
    }
  }
  return { active, copies };
}
