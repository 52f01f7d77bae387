import { expect } from 'chai';
import fc from 'fast-check';
import { byCodeUnits } from '../../machines/model/ids.ts';
import { problemOfCell } from '../../src/problem/cell.ts';
import { cellPieces, cellText } from '../../src/problem/cell-text.ts';
import { parseCell } from '../../src/problem/read-cell.ts';
import {
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  tasks,
} from '../support/assignment.ts';
import { AssignmentScenario } from '../support/assignment-scenario.ts';
import { seeds } from '../support/seeds.ts';

const problem = assignmentProblem({
  groupId: 'orders',
  topologyEpoch: 3,
  subtopologies: [
    { subtopologyId: '0', taskCount: 2, stateful: true },
    { subtopologyId: '1', taskCount: 1, stateful: false },
  ],
  members: [
    assignmentMember('a', {
      instanceId: 'i',
      rackId: 'r',
      clientTags: [{ key: 'zone', value: 'z1' }],
      topologyEpoch: 3,
      active: tasks({ '0': [0, 2], '1': [0], '9': [0] }),
      taskOffsets: [
        { subtopologyId: '0', partition: 1, offset: 2n ** 63n - 1n },
        { subtopologyId: '0', partition: 0, offset: -1n },
        { subtopologyId: '9', partition: 0, offset: 5n },
      ],
    }),
    assignmentMember('b', { processId: 'P2', standby: tasks({ '0': [1] }), topologyEpoch: 2 }),
  ],
  numStandbyReplicas: 1,
  acceptableRecoveryLag: 2n ** 53n,
  rackAwareAssignmentTags: ['zone'],
  placeAsKafka: true,
});

describe('cellText()', () => {
  it('says what an assignor looks at and where it is from, in one line', () => {
    const text = cellText(problem, {
      epoch: 7,
      assignmentEpoch: 6,
      dump: { at: '1970-01-01T00:00:00.000Z', why: 'asked' },
      targetOf: (memberId) =>
        memberId === 'a'
          ? { active: tasks({ '0': [0, 1], '9': [1] }), standby: [], warmup: [] }
          : undefined,
    });
    expect(text).to.match(/^[^\n]+\n$/);
    expect(JSON.parse(text)).to.deep.equal({
      cell: 'orders',
      assignor: 'sticky',
      dump: { at: '1970-01-01T00:00:00.000Z', why: 'asked' },
      group: { id: 'orders', epoch: 7, assignmentEpoch: 6, topologyEpoch: 3 },
      configs: {
        numStandbyReplicas: 1,
        rackAwareAssignmentTags: ['zone'],
        acceptableRecoveryLag: '9007199254740992',
        placeAsKafka: true,
      },
      topology: [
        { id: '0', tasks: 2, stateful: true },
        { id: '1', tasks: 1, stateful: false },
      ],
      members: [
        {
          id: 'a',
          process: 'P1',
          instance: 'i',
          rack: 'r',
          tags: { zone: 'z1' },
          active: { '0': [0], '1': [0] },
          offsets: { '0': { '1': '9223372036854775807' } },
          target: { active: { '0': [0, 1] } },
        },
        { id: 'b', process: 'P2', stale: true, standby: { '0': [1] } },
      ],
    });
  });

  it('comes in pieces of one member each', () => {
    const pieces = [...cellPieces(problem)];
    expect(pieces.length).to.equal(4);
    expect(pieces[2]).to.match(/^,\{"id":"b",.*\}$/);
  });

  for (const shape of ['small', 'large'] as const) {
    it(`is read back as a problem that is answered alike and written alike: ${shape} groups`, () => {
      for (const seed of seeds(shape === 'small' ? 20 : 1)) {
        const scenario = new AssignmentScenario(seed, shape);
        for (let change = 0; change < 4; change++) {
          const result = assignDirectly(scenario.problem);
          // As the coordinator's snapshots have them.
          const subtopologies = scenario.problem.subtopologies.toSorted((a, b) =>
            byCodeUnits(a.subtopologyId, b.subtopologyId),
          );
          const asked = { ...scenario.problem, subtopologies };
          for (const assignor of ['sticky', 'balanced', 'highly_available', 'kafka']) {
            const isKafka = assignor === 'kafka';
            // Where Kafka's way is taken, no member is stale to an assignor.
            const fresh = asked.members.map((each) => ({ ...each, topologyEpoch: 1 }));
            const one = {
              ...asked,
              members: isKafka ? fresh : asked.members,
              assignor: isKafka ? 'sticky' : assignor,
              placeAsKafka: isKafka,
            };
            const text = cellText(one);
            const again = problemOfCell(parseCell(text));
            const name = `${assignor}, seed ${seed}`;
            expect(assignDirectly(again), name).to.deep.equal(assignDirectly(one));
            expect(cellText(again), name).to.equal(text);
          }
          scenario.settle(result);
          scenario.change();
        }
      }
    });
  }

  it('is answered alike whatever clients report', () => {
    const sum = fc.constantFrom(-(2n ** 63n), -1n, 0n, 1n, 9_999n, 2n ** 63n - 1n);
    const report = fc.record({
      subtopologyId: fc.constantFrom('0', '1', 'gone'),
      partition: fc.nat({ max: 3 }),
      offset: sum,
    });
    const reports = fc.uniqueArray(report, {
      maxLength: 6,
      selector: ({ subtopologyId, partition }) => `${subtopologyId}_${partition}`,
    });
    const member = fc.record({ taskOffsets: reports, taskEndOffsets: reports });
    fc.assert(
      fc.property(fc.array(member, { minLength: 1, maxLength: 4 }), (reported) => {
        const asked = {
          ...problem,
          placeAsKafka: false,
          assignor: 'highly_available',
          members: reported.map((each, at) =>
            assignmentMember(`m${at}`, { ...each, processId: `p${at}`, topologyEpoch: 3 }),
          ),
        };
        const again = problemOfCell(parseCell(cellText(asked)));
        expect(assignDirectly(again)).to.deep.equal(assignDirectly(asked));
      }),
    );
  });
});
