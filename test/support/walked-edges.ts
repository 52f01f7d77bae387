import { apply } from '../../machines/apply.ts';
import { charts } from '../../machines/charts.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { inKeyOrder } from '../model/coordinator.ts';
import type { Move, Played } from '../model/moves.ts';
import type { World } from '../model/world.ts';
import { edgeTo } from './chart-edges.ts';
import { GROUP_ID } from './lone-coordinator.ts';

const [groupChart, memberChart] = charts;

/**
 * The edges of the charts of groups and members that were gone along, read off the states before and after: of a
 * group after each record, of a member after each heartbeat of it that was concluded.
 */
export class WalkedEdges {
  readonly group = new Set<string>();
  readonly member = new Set<string>();

  /** A move of the model. */
  watch(before: World, { kind }: Move, { world, records, sent }: Played): void {
    const { slot } = before.coordinator;
    if (kind === 'restart') this.applied(emptySlot(GROUP_ID), inKeyOrder(world.coordinator.log));
    else this.applied(slot, records);
    for (const { memberId, answer } of sent) {
      if (answer.error !== 'NONE' || answer.memberEpoch < 0) continue;
      this.concluded(memberId, slot, world.coordinator.slot);
    }
  }

  /** Records were folded into a slot, one after the other. */
  applied(slot: GroupSlot, records: readonly GroupRecord[]): void {
    let before = slot;
    for (const record of records) {
      const after = apply(before, record);
      if (after.group !== before.group) {
        const from = before.group?.state ?? 'Empty';
        const event = after.group === undefined ? 'DELETED' : 'SETTLED';
        this.group.add(edgeIn(groupChart, from, event, after.group?.state ?? 'Dead'));
      }
      this.#removed(before, after);
      before = after;
    }
  }

  /** A heartbeat of a member came to its end; the member may have been made by it. */
  concluded(memberId: string, before: GroupSlot, after: GroupSlot): void {
    const was = before.group?.members.get(memberId);
    const is = after.group?.members.get(memberId);
    if (is === undefined) return;
    const from = was?.state ?? 'stable';
    // It was left as it was because it still owes: the chart has that way before all others.
    const keeps = from === 'unrevokedTasks' && was?.pendingRevocation === is.pendingRevocation;
    if (keeps) this.member.add('unrevokedTasks HEARTBEAT [hasNotLetGo] unrevokedTasks');
    else this.member.add(edgeIn(memberChart, from, 'HEARTBEAT', is.state));
  }

  #removed(before: GroupSlot, after: GroupSlot): void {
    for (const { memberId, state } of before.group?.members.values() ?? []) {
      if (after.group?.members.has(memberId) === true) continue;
      this.member.add(edgeIn(memberChart, state, 'REMOVED', 'removed'));
    }
  }
}

function edgeIn(
  chart: (typeof charts)[number] | undefined,
  from: string,
  event: string,
  to: string,
) {
  if (chart === undefined) throw new Error('There is no such chart');
  return edgeTo(chart, from, event, to);
}
