import { createInterface } from 'node:readline';
import type { AssignmentMember, AssignmentProblem } from '../machines/model/assignment.ts';
import { byCodeUnits } from '../machines/model/ids.ts';
import type { TaskList, TaskOffset } from '../machines/model/tasks.ts';
import { decodeResult, encodeProblem } from '../workers/problem.ts';
import { SharedBuffers } from '../workers/shared-buffers.ts';
import { assignSticky } from '../workers/sticky.ts';
import runAssignment from '../workers/thread.ts';

// Answers assignment cells: one JSON cell a line in, one JSON answer a line out, so that other assignors can be asked the
// same and the answers compared. `--once` skips the timing. What is timed is the assignor alone, from dense arrays to
// dense arrays.

type Partitions = Readonly<Record<string, readonly number[]>>;
type Offsets = Readonly<Record<string, Readonly<Record<string, number | string>>>>;

/** A cell as it is read; everything but names and counts may be left out. */
type Cell = {
  readonly cell: string;
  readonly assignor?: string;
  readonly configs?: {
    readonly numStandbyReplicas?: number;
    readonly rackAwareAssignmentTags?: readonly string[];
    readonly acceptableRecoveryLag?: number;
  };
  readonly topology: readonly {
    readonly id: string;
    readonly tasks: number;
    readonly stateful?: boolean;
  }[];
  readonly members: readonly {
    readonly id: string;
    readonly process: string;
    readonly instance?: string;
    readonly rack?: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly stale?: boolean;
    readonly active?: Partitions;
    readonly standby?: Partitions;
    readonly warmup?: Partitions;
    readonly offsets?: Offsets;
    readonly endOffsets?: Offsets;
  }[];
};

const buffers = new SharedBuffers();
const isOnce = process.argv.includes('--once');

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line.trim() !== '') console.log(JSON.stringify(answer(JSON.parse(line) as Cell)));
}

function answer(cell: Cell): object {
  const about = {
    cell: cell.cell,
    implementation: 'headgate',
    assignor: cell.assignor ?? 'sticky',
  };
  if (about.assignor !== 'sticky') return { ...about, error: `ABSENT: no ${about.assignor}` };
  const problem = problemOf(cell);
  const encoded = encodeProblem(problem, buffers);
  const { buffer } = encoded.dense;
  try {
    const outcome = runAssignment({ buffer });
    if (outcome.status !== 'assigned') return { ...about, error: JSON.stringify(outcome) };
    const { members, unassigned } = decodeResult(encoded);
    const assignment = Object.fromEntries(
      problem.members.map(({ memberId }, m) => [
        memberId,
        {
          active: partitionsOf(members[m]?.active ?? []),
          standby: partitionsOf(members[m]?.standby ?? []),
        },
      ]),
    );
    return {
      ...about,
      assignment,
      ...(unassigned.length > 0 && { unassigned: taskNames(unassigned) }),
      ...(!isOnce && { timing: time(() => assignSticky(encoded.dense)) }),
    };
  } finally {
    buffers.give(buffer);
  }
}

/** Warms up for a second, then measures for one; microseconds. On one thread, the clock stands for its CPU time. */
function time(run: () => void): object {
  const samples: number[] = [];
  for (const measured of [false, true]) {
    const end = performance.now() + 1000;
    while (performance.now() < end) {
      const before = performance.now();
      run();
      if (measured) samples.push((performance.now() - before) * 1000);
    }
  }
  samples.sort((a, b) => a - b);
  const figures = {
    min: samples[0],
    median: samples[samples.length >> 1],
    p90: samples[Math.floor(samples.length * 0.9)],
  };
  return { runs: samples.length, cpuUs: figures, wallUs: figures };
}

function problemOf({ cell, configs, topology, members }: Cell): AssignmentProblem {
  return {
    groupId: cell,
    assignor: 'sticky',
    topologyEpoch: 1,
    subtopologies: topology
      .map(({ id, tasks, stateful }) => ({
        subtopologyId: id,
        taskCount: tasks,
        stateful: stateful ?? false,
      }))
      .sort((a, b) => byCodeUnits(a.subtopologyId, b.subtopologyId)),
    members: members
      .map(
        (each): AssignmentMember => ({
          memberId: each.id,
          instanceId: each.instance ?? null,
          rackId: each.rack ?? null,
          processId: each.process,
          clientTags: Object.entries(each.tags ?? {}).map(([key, value]) => ({ key, value })),
          topologyEpoch: each.stale === true ? 0 : 1,
          active: listOf(each.active),
          standby: listOf(each.standby),
          warmup: listOf(each.warmup),
          taskOffsets: offsetsOf(each.offsets),
          taskEndOffsets: offsetsOf(each.endOffsets),
        }),
      )
      .sort((a, b) => byCodeUnits(a.memberId, b.memberId)),
    numStandbyReplicas: configs?.numStandbyReplicas ?? 0,
    acceptableRecoveryLag: BigInt(configs?.acceptableRecoveryLag ?? 10_000),
    rackAwareAssignmentTags: configs?.rackAwareAssignmentTags ?? [],
  };
}

function listOf(tasks: Partitions | undefined): TaskList {
  return Object.entries(tasks ?? {}).map(([subtopologyId, partitions]) => ({
    subtopologyId,
    partitions,
  }));
}

function offsetsOf(offsets: Offsets | undefined): TaskOffset[] {
  return Object.entries(offsets ?? {}).flatMap(([subtopologyId, byPartition]) =>
    Object.entries(byPartition).map(([partition, offset]) => ({
      subtopologyId,
      partition: Number(partition),
      offset: BigInt(offset),
    })),
  );
}

function partitionsOf(list: TaskList): Partitions {
  return Object.fromEntries(list.map((each) => [each.subtopologyId, each.partitions]));
}

function taskNames(list: TaskList): string[] {
  return list.flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => `${subtopologyId}_${partition}`),
  );
}
