import { Draft } from '../machines/decide/draft.ts';
import { installResult } from '../machines/decide/install.ts';
import type { Context, GroupDecision } from '../machines/decision.ts';
import {
  type GroupProblem,
  type GroupResult,
  gatherProblem,
  type RunProblem,
} from '../machines/model/assignment.ts';
import { emptySlot, newGroup, newMember } from '../machines/model/empty.ts';
import type { Group } from '../machines/model/group.ts';
import { PersistentMap } from '../machines/model/persistent-map.ts';
import type { PreparedTarget } from '../machines/new-target.ts';
import { type Cell, listOf, problemOfCell } from '../src/problem/cell.ts';

/** A group as the run before saw it, and as the present run sees it: two problems that share what did not change. */
export type CellEvent = { readonly before: GroupProblem; readonly after: RunProblem };

/**
 * What happened to a cell's group. Those that departed were there before; where none did, its last member has come: of a
 * thousand that join a new group all but the last are known when the run is due. Everybody's target is what it holds.
 */
export function eventOf(cell: Cell): CellEvent {
  const gathered = gatherProblem(problemOfCell(cell));
  const group = groupOf(gathered);
  const after = { ...gathered, targets: group.targets, group };
  const departed = cell.departed ?? [];
  if (departed.length > 0) {
    let { members, targets } = after;
    for (const { id, process, active, standby } of departed) {
      const assigned = { active: listOf(active), standby: listOf(standby), warmup: [] };
      members = members.set(id, {
        memberId: id,
        instanceId: null,
        rackId: null,
        processId: process,
        clientTags: [],
        topologyEpoch: after.topologyEpoch,
        assigned,
      });
      targets = targets.set(id, assigned);
    }
    return { before: { ...gathered, members, targets }, after };
  }
  const last = cell.members.at(-1)?.id ?? '';
  return {
    before: {
      ...gathered,
      members: after.members.delete(last),
      reports: after.reports.delete(last),
      targets: after.targets.delete(last),
    },
    after,
  };
}

/** The group that a problem is of, as far as an install looks at it. */
function groupOf(problem: GroupProblem): Group {
  let group = newGroup(problem.groupId);
  for (const member of problem.members.values()) {
    const { memberId, assigned } = member;
    const { active, standby, warmup } = assigned;
    const isNew = active.length + standby.length === 0;
    group = {
      ...group,
      members: group.members.set(memberId, {
        ...newMember(memberId),
        ...member,
        assigned: NOTHING,
      }),
      targets: isNew ? group.targets : group.targets.set(memberId, { active, standby, warmup }),
    };
  }
  return { ...group, groupEpoch: 2, assignmentEpoch: 1 };
}

/** Installs what a run found, with its records, without its words, which come later; nothing of the group itself changes. */
export function install(
  problem: RunProblem,
  result: GroupResult,
  prepared: PreparedTarget,
): GroupDecision<undefined> {
  const { groupId, group, topologyEpoch } = problem;
  const draft = new Draft({ ...emptySlot(groupId), group }, CONTEXT);
  const run = {
    run: 1,
    groupEpoch: group.groupEpoch,
    topologyEpoch,
    instanceIds: PersistentMap.empty<string>(),
    waitingMemberId: undefined,
  };
  installResult(draft, run, {
    kind: 'assigned',
    incarnation: 1,
    run: 1,
    groupEpoch: group.groupEpoch,
    problem,
    result,
    prepared,
    looksBack: true,
  });
  return draft.done({ kind: 'answer', value: undefined });
}

const NOTHING = newMember('').assigned;

const CONTEXT = { nowMs: 1 } as Context;
