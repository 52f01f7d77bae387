import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import {
  computeIfAbsentOrder,
  hashMapOrder,
  PriorityHeap,
} from '../../workers/java-collections.ts';
import {
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  tasks,
} from '../support/assignment.ts';
import { projectRoot } from '../support/oracle.ts';

type ById = Readonly<Record<string, readonly number[]>>;
/** A group, and what the sticky assignor of Apache Kafka 4.4.0 gave it (`oracle.sh assign`; test/oracle/README-assign.md). */
type Cell = {
  readonly standbys: number;
  readonly topology: readonly { id: string; tasks: number; stateful: boolean }[];
  readonly members: readonly {
    readonly id: string;
    readonly process: string;
    readonly active: ById;
    readonly standby: ById;
    readonly offsets: Readonly<Record<string, Readonly<Record<string, number>>>>;
  }[];
  readonly assignment: Readonly<Record<string, { readonly active: ById; readonly standby: ById }>>;
};

const cells: readonly Cell[] = readFileSync(
  join(projectRoot, 'test/workers/kafka-sticky.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

function offsetsOf(offsets: Cell['members'][number]['offsets']): TaskOffset[] {
  return Object.entries(offsets).flatMap(([subtopologyId, sums]) =>
    Object.entries(sums).map(([partition, offset]) => ({
      subtopologyId,
      partition: Number(partition),
      offset: BigInt(offset),
    })),
  );
}

function assign({ standbys, topology, members }: Cell) {
  return assignDirectly(
    assignmentProblem({
      placeAsKafka: true,
      numStandbyReplicas: standbys,
      subtopologies: topology.map(({ id, tasks: taskCount, stateful }) => ({
        subtopologyId: id,
        taskCount,
        stateful,
      })),
      members: members.map(({ id, process, active, standby, offsets }) =>
        assignmentMember(id, {
          processId: process,
          active: tasks(active),
          standby: tasks(standby),
          taskOffsets: offsetsOf(offsets),
        }),
      ),
    }),
  );
}

describe('assignAsKafka()', () => {
  it('looks at many cells', () => expect(cells.length).to.equal(40));

  cells.forEach((cell, at) => {
    const { members, topology, standbys } = cell;
    const shape = `${members.length} members, ${topology.length} subtopologies, ${standbys} standbys`;
    it(`places cell ${at} (${shape}) as Apache Kafka 4.4.0 does`, () => {
      expect(assign(cell)).to.deep.equal({
        members: members.map(({ id }) => ({
          active: tasks(cell.assignment[id]?.active ?? {}),
          standby: tasks(cell.assignment[id]?.standby ?? {}),
        })),
        unassigned: [],
      });
    });
  });
});

describe('java-collections', () => {
  it('hashMapOrder() goes by the low bits of the hash, and by arrival within a bin', () => {
    expect(hashMapOrder(['q', 'A', 'a', 'B', 'A'])).to.deep.equal(['q', 'A', 'a', 'B']);
  });

  it('hashMapOrder() keeps the order of a bin when the table grows past 12 keys', () => {
    const letters = [...'Aa1BCDEFGHIJKL'];
    expect(hashMapOrder(letters).join('')).to.equal('AaBCDEFGHIJKL1');
  });

  it('computeIfAbsentOrder() sizes the table by the calls and puts the newest of a bin first', () => {
    expect(computeIfAbsentOrder(['p1', 'p3'])).to.deep.equal(['p3', 'p1']);
    expect(computeIfAbsentOrder(['p1', 'p3', 'p1', 'p2'])).to.deep.equal(['p1', 'p2', 'p3']);
  });

  it('PriorityHeap gives the least, and of equals the one the heap has on top', () => {
    const weights = [1, 0, 0, 2];
    const heap = new PriorityHeap((item) => weights[item] ?? 0);
    for (const item of [0, 1, 2, 3]) heap.add(item);
    expect(heap.size).to.equal(4);
    const taken = [0, 1, 2, 3, 4].map(() => heap.poll());
    expect(taken).to.deep.equal([1, 2, 0, 3, undefined]);
  });
});
