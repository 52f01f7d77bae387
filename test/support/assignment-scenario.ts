import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../../machines/model/assignment.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import type { KeyValue } from '../../machines/model/topology.ts';
import { assignmentMember, assignmentProblem, holdResult, tasks } from './assignment.ts';

/** Numbers from a seed, the same each time. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  isTrue(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.between(0, values.length - 1)] as T;
  }

  shuffled<T>(values: readonly T[]): T[] {
    const list = [...values];
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.between(0, i);
      [list[i], list[j]] = [list[j] as T, list[i] as T];
    }
    return list;
  }
}

/** The two shapes of assignors 10.2. */
export type ScenarioShape = 'small' | 'large';

const NOT_STARTED = 2n ** 63n - 1n;

/**
 * A group that lives through random changes, from one seed. `problem` is what the assignor is to be asked now;
 * `settle` takes its answer as what members hold; `change` lets something happen and says what.
 */
export class AssignmentScenario {
  readonly chance: Chance;
  readonly history: string[] = [];
  problem: AssignmentProblem;
  #born = 0;
  readonly #tagKeys: readonly string[];
  readonly #valuesPerTag: number;
  readonly #shape: ScenarioShape;

  constructor(seed: number, shape: ScenarioShape) {
    const chance = new Chance(seed);
    this.chance = chance;
    this.#shape = shape;
    const isSmall = shape === 'small';
    this.#tagKeys = isSmall
      ? ['region', 'zone', 'rack'].slice(0, chance.between(0, 3))
      : ['region', 'zone']
          .slice(0, chance.between(1, 2))
          .concat(chance.isTrue(0.2) ? ['host'] : []);
    this.#valuesPerTag = isSmall ? chance.between(2, 4) : chance.pick([3, 3, 3, 2, 4]);
    const subtopologies = Array.from(
      { length: isSmall ? chance.between(1, 6) : chance.between(4, 20) },
      (_, s) => this.#newSubtopology(s),
    );
    const taskCount = subtopologies.reduce((sum, each) => sum + each.taskCount, 0);
    const perMember = chance.pick([2, 2, 3, 3, 3, 4, 4, 4, 6, 8]);
    const processCount = isSmall
      ? chance.between(1, 8)
      : Math.max(2, Math.floor(taskCount / perMember / 9));
    this.problem = assignmentProblem({
      subtopologies,
      numStandbyReplicas: isSmall ? chance.between(0, 2) : chance.pick([0, 1, 1, 1, 2]),
      rackAwareAssignmentTags: this.#tagKeys,
    });
    for (let p = 0; p < processCount; p++) this.#addProcess();
    this.history.push(`${shape} seed ${seed}`);
  }

  settle(result: AssignmentResult): void {
    this.problem = holdResult(this.problem, result);
  }

  change(): void {
    const chance = this.chance;
    const kind = chance.pick([
      'join',
      'leave',
      'restart',
      'memberLeaves',
      'addSubtopology',
      'retag',
      'replicas',
      'grow',
      'stale',
      'fresh',
      'offsets',
      'warmups',
      'zombie',
    ] as const);
    this.history.push(kind);
    const { members, subtopologies } = this.problem;
    const processIds = [...new Set(members.map((m) => m.processId))];
    if (kind === 'join') this.#addProcess();
    if (kind === 'leave' && processIds.length > 1) {
      const leaver = chance.pick(processIds);
      this.#setMembers(members.filter((m) => m.processId !== leaver));
    }
    if (kind === 'restart') this.#restart(chance.pick(processIds));
    if (kind === 'memberLeaves' && members.length > 1) {
      const leaver = chance.pick(members);
      this.#setMembers(members.filter((m) => m !== leaver));
    }
    if (kind === 'addSubtopology') {
      const added = this.#newSubtopology(subtopologies.length);
      this.problem = {
        ...this.problem,
        subtopologies: [...subtopologies, added].sort((a, b) =>
          a.subtopologyId < b.subtopologyId ? -1 : 1,
        ),
      };
    }
    if (kind === 'retag') {
      const processId = chance.pick(processIds);
      const clientTags = this.#tags(processId);
      this.#edit((m) => (m.processId === processId ? { ...m, clientTags } : m));
    }
    if (kind === 'replicas') {
      this.problem = { ...this.problem, numStandbyReplicas: chance.between(0, 3) };
    }
    if (kind === 'grow') {
      const grown = chance.pick(subtopologies);
      this.problem = {
        ...this.problem,
        subtopologies: subtopologies.map((each) =>
          each === grown ? { ...each, taskCount: each.taskCount + chance.between(1, 4) } : each,
        ),
      };
    }
    if (kind === 'stale') this.#edit((m) => (chance.isTrue(0.3) ? { ...m, topologyEpoch: 0 } : m));
    if (kind === 'fresh') this.#edit((m) => ({ ...m, topologyEpoch: 1 }));
    if (kind === 'offsets') this.#edit((m) => ({ ...m, ...this.#reports() }));
    if (kind === 'warmups') {
      this.#edit((m) => (chance.isTrue(0.3) ? { ...m, warmup: this.#someTasks(2) } : m));
    }
    if (kind === 'zombie') {
      const lucky = chance.pick(members);
      this.#edit((m) => (m === lucky ? { ...m, active: this.#someTasks(3) } : m));
    }
  }

  /** The same problem with every list in another order. */
  shuffled(): AssignmentProblem {
    const { chance, problem } = this;
    return {
      ...problem,
      subtopologies: chance.shuffled(problem.subtopologies),
      members: chance.shuffled(problem.members).map((m) => ({
        ...m,
        active: chance.shuffled(m.active),
        standby: chance.shuffled(m.standby),
        warmup: chance.shuffled(m.warmup),
        taskOffsets: chance.shuffled(m.taskOffsets),
        taskEndOffsets: chance.shuffled(m.taskEndOffsets),
        clientTags: chance.shuffled(m.clientTags),
      })),
    };
  }

  #newSubtopology(s: number) {
    const isSmall = this.#shape === 'small';
    return {
      subtopologyId: `${s}`,
      taskCount: isSmall ? this.chance.between(1, 8) : this.chance.between(16, 128),
      stateful: this.chance.isTrue(isSmall ? 0.5 : 0.6),
    };
  }

  #addProcess(): void {
    const { chance } = this;
    // Ids are born in no order, so that a newcomer may come before the old.
    const processId = `p${chance.between(0, 999)}-${this.#born++}`;
    const isLarge = this.#shape === 'large';
    const size = isLarge
      ? chance.isTrue(0.1)
        ? chance.between(32, 64)
        : chance.between(1, 8)
      : chance.between(1, 4);
    const clientTags = this.#tags(processId);
    const added = Array.from({ length: size }, () => this.#newMember(processId, clientTags));
    this.#setMembers([...this.problem.members, ...added]);
  }

  #newMember(processId: string, clientTags: readonly KeyValue[]): AssignmentMember {
    const memberId = `m${this.chance.between(0, 999)}-${this.#born++}`;
    return assignmentMember(memberId, { processId, clientTags });
  }

  /** New member ids; the state of its stateful tasks is still on disk, reported by any of them. */
  #restart(processId: string): void {
    const { chance, problem } = this;
    const gone = problem.members.filter((m) => m.processId === processId);
    const clientTags = gone[0]?.clientTags ?? [];
    const reports: TaskOffset[][] = gone.map(() => []);
    for (const { active, standby } of gone) {
      for (const { subtopologyId, partitions } of [...active, ...standby]) {
        for (const partition of partitions) {
          const offset = BigInt(chance.between(0, 5000));
          chance.pick(reports).push({ subtopologyId, partition, offset });
        }
      }
    }
    const back = reports.map((taskOffsets) => ({
      ...this.#newMember(processId, clientTags),
      taskOffsets,
    }));
    this.#setMembers([...problem.members.filter((m) => m.processId !== processId), ...back]);
  }

  #tags(processId: string): KeyValue[] {
    return this.#tagKeys
      .filter(() => !this.chance.isTrue(0.1))
      .map((key) => ({
        key,
        value: key === 'host' ? processId : `v${this.chance.between(1, this.#valuesPerTag)}`,
      }));
  }

  #reports(): Pick<AssignmentMember, 'taskOffsets' | 'taskEndOffsets'> {
    const { chance } = this;
    const taskOffsets: TaskOffset[] = [];
    const taskEndOffsets: TaskOffset[] = [];
    for (const { subtopologyId, partitions } of this.#someTasks(4)) {
      for (const partition of partitions) {
        const big = 2n ** 53n + BigInt(chance.between(0, 3));
        const offset = chance.pick([0n, 10n, BigInt(chance.between(0, 20_000)), big, NOT_STARTED]);
        taskOffsets.push({ subtopologyId, partition, offset });
        if (chance.isTrue(0.5)) {
          const end = chance.pick([offset, offset - 1n, NOT_STARTED, 30_000n]);
          taskEndOffsets.push({ subtopologyId, partition, offset: end });
        }
      }
    }
    return { taskOffsets, taskEndOffsets };
  }

  /** Of which some may not exist. */
  #someTasks(count: number) {
    const bySubtopology: Record<string, number[]> = {};
    for (let i = 0; i < count; i++) {
      const { subtopologyId, taskCount } = this.chance.pick(this.problem.subtopologies);
      const partition = this.chance.between(0, taskCount);
      const partitions = bySubtopology[subtopologyId] ?? [];
      if (!partitions.includes(partition)) partitions.push(partition);
      bySubtopology[subtopologyId] = partitions.sort((a, b) => a - b);
    }
    return tasks(bySubtopology);
  }

  #edit(edit: (member: AssignmentMember) => AssignmentMember): void {
    this.#setMembers(this.problem.members.map(edit));
  }

  #setMembers(members: readonly AssignmentMember[]): void {
    this.problem = {
      ...this.problem,
      members: members.toSorted((a, b) => (a.memberId < b.memberId ? -1 : 1)),
    };
  }
}

/** Visits the first state of a scenario and the one after each change; `visit` answers what is held then. */
export function forEachState(
  seed: number,
  shape: ScenarioShape,
  visit: (scenario: AssignmentScenario) => AssignmentResult,
): void {
  const scenario = new AssignmentScenario(seed, shape);
  try {
    scenario.settle(visit(scenario));
    for (let left = scenario.chance.between(1, 8); left > 0; left--) {
      scenario.change();
      scenario.settle(visit(scenario));
    }
  } catch (error) {
    if (error instanceof Error) error.message += ` (after ${scenario.history.join(', ')})`;
    throw error;
  }
}
