import type { Group } from '../../machines/model/group.ts';
import { PersistentMap } from '../../machines/model/persistent-map.ts';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import { DECISIONS, type Decisions, type Setup } from './setup.ts';
import { MUTATED, MUTATED_AT_REST, MUTATED_LIVES } from './worlds.ts';

/** A decision with one fault that somebody could make, and the law that has to notice. */
export type Mutant = {
  readonly fault: string;
  readonly decisions: Decisions;
  /** Where the fault shows: enough goes wrong there. */
  readonly setup: Setup;
  /** What the explorer says of it. */
  readonly noticed: RegExp;
};

/** Decides as if the group's holders were others than they are. */
function withHolders(holdersOf: (group: Group) => Group['holders']): Decisions['heartbeat'] {
  return (slot, ...rest) => {
    if (slot?.group === undefined) return DECISIONS.heartbeat(slot, ...rest);
    const group = { ...slot.group, holders: holdersOf(slot.group) };
    return DECISIONS.heartbeat({ ...slot, group }, ...rest);
  };
}

const NOBODY: Group['holders'] = {
  active: PersistentMap.empty(),
  standby: PersistentMap.empty(),
  warmup: PersistentMap.empty(),
};

/** Without what members still owe. */
function assignedOnly({ holders, members }: Group): Group['holders'] {
  let { active } = holders;
  for (const { pendingRevocation } of members.values()) {
    forEachTask(pendingRevocation.active, (subtopologyId, partition) => {
      active = active.delete(taskKey(subtopologyId, partition));
    });
  }
  return { ...holders, active };
}

/** One fault each; every one was, or could have been, a line of the real decisions. */
export const MUTANTS: readonly Mutant[] = [
  {
    fault: 'a task is given although somebody holds it',
    decisions: { ...DECISIONS, heartbeat: withHolders(() => NOBODY) },
    setup: MUTATED,
    noticed: /active with|active task that another one has/,
  },
  {
    fault: 'a task is given although it is still owed',
    decisions: { ...DECISIONS, heartbeat: withHolders(assignedOnly) },
    setup: MUTATED,
    noticed: /active with|active task that another one has/,
  },
  {
    fault: 'owned lists that were not sent count as empty',
    decisions: {
      ...DECISIONS,
      heartbeat: (slot, request, ...rest) => {
        const { activeTasks, standbyTasks, warmupTasks } = request;
        const lists = {
          activeTasks: activeTasks ?? [],
          standbyTasks: standbyTasks ?? [],
          warmupTasks: warmupTasks ?? [],
        };
        return DECISIONS.heartbeat(slot, { ...request, ...lists }, ...rest);
      },
    },
    setup: MUTATED,
    noticed: /active task that another one has/,
  },
  {
    fault: 'a member is removed without a new group epoch',
    decisions: {
      ...DECISIONS,
      sessionExpired: (...given) => {
        const decision = DECISIONS.sessionExpired(...given);
        const wasLast = decision?.records.some(({ type }) => type === 'targetMetadata');
        if (decision === undefined || wasLast) return decision;
        return {
          ...decision,
          records: decision.records.filter(({ type }) => type !== 'groupMetadata'),
        };
      },
    },
    setup: MUTATED_AT_REST,
    noticed: /At rest, but a task is with nobody/,
  },
  {
    fault: 'the timers of a removed member run on',
    decisions: {
      ...DECISIONS,
      heartbeat: (...given) => {
        const decision = DECISIONS.heartbeat(...given);
        return {
          ...decision,
          effects: decision.effects.filter(({ type }) => type !== 'cancelMember'),
        };
      },
    },
    setup: MUTATED,
    noticed: /session timers run for/,
  },
  {
    fault: 'a load arms no rebalance timers',
    decisions: {
      ...DECISIONS,
      loaded: (...given) =>
        DECISIONS.loaded(...given).filter(({ type }) => type !== 'armRebalance'),
    },
    setup: MUTATED,
    noticed: /its rebalance timer is for/,
  },
  {
    fault: 'the result of any run counts as that of the one in flight',
    decisions: {
      ...DECISIONS,
      runOver: (slot, outcome, ...rest) => {
        const { incarnation, run } = slot?.soft ?? {};
        const { incarnation: life, run: number } = outcome;
        const tags = { incarnation: incarnation ?? life, run: run?.run ?? number };
        return DECISIONS.runOver(slot, { ...outcome, ...tags }, ...rest);
      },
    },
    setup: MUTATED_LIVES,
    noticed: /At rest, but a task is with nobody/,
  },
  {
    fault: 'a failed run is never tried again',
    decisions: {
      ...DECISIONS,
      runOver: (slot, outcome, ...rest) => {
        const decision = DECISIONS.runOver(slot, outcome, ...rest);
        const run = slot?.soft.run;
        if (outcome.kind === 'assigned' || run === undefined) return decision;
        return { ...decision, soft: { ...decision.soft, run } };
      },
    },
    setup: MUTATED,
    noticed: /At rest, but the group is Assigning/,
  },
];
