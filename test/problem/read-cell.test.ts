import { expect } from 'chai';
import fc from 'fast-check';
import type { Cell } from '../../src/problem/cell.ts';
import {
  CELL_BYTES_MAX,
  CELL_COPIES_MAX,
  CELL_MEMBERS_MAX,
  CELL_TASKS_MAX,
  parseCell,
  readCell,
} from '../../src/problem/read-cell.ts';
import { CellError } from '../../src/problem/shape.ts';

/** Everything a cell can say. */
const WHOLE: Cell = {
  cell: 'orders',
  assignor: 'highly_available',
  configs: {
    numStandbyReplicas: 1,
    rackAwareAssignmentTags: ['zone'],
    acceptableRecoveryLag: '9007199254740993',
    placeAsKafka: true,
  },
  topology: [
    { id: '0', tasks: 4, stateful: true },
    { id: '__proto__', tasks: 2 },
  ],
  members: [
    {
      id: 'a',
      process: 'p1',
      instance: 'i',
      rack: '',
      tags: { zone: '' },
      stale: false,
      active: { '0': [0, 3], ['__proto__']: [1] },
      standby: { '0': [1] },
      warmup: { '0': [2] },
      offsets: { '0': { '3': 12, '1': '9223372036854775807' } },
      endOffsets: { '0': { '3': 0 } },
      target: { active: { '0': [0] }, standby: {} },
    },
    { id: 'b', process: 'p2' },
  ],
  previousBy: 'sticky',
  departed: [{ id: 'z', process: 'p9', active: { '0': [2] } }],
  group: { id: 'orders', epoch: 7, assignmentEpoch: 6, topologyEpoch: 2 },
  dump: { at: '2026-11-30T16:03:14.106Z', why: 'broken', detail: 'H1', by: 'headgate' },
};

/** A copy with one field set, by a path of keys; undefined takes it away. */
function changed(path: readonly (string | number)[], value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(WHOLE));
  const [last = '', ...before] = path.toReversed();
  const at = before.toReversed().reduce((node, key) => node[key], copy);
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof CellError) return error.message;
    throw error;
  }
  return 'none';
}

describe('parseCell()', () => {
  it('reads everything a cell can say', () => {
    expect(parseCell(JSON.stringify(WHOLE))).to.deep.equal(WHOLE);
  });

  it('needs a name, a topology and members alone', () => {
    const least = { cell: '', topology: [], members: [] };
    expect(readCell(least)).to.deep.equal(least);
  });

  type Refused = readonly [path: (string | number)[], value: unknown, text: string];
  const refused: readonly Refused[] = [
    [['cell'], 5, 'cell is 5: wanted text'],
    [['members'], undefined, 'members is missing'],
    [['members', 1, 'process'], undefined, 'members[1].process is missing'],
    [['members', 1, 'process'], '', 'members[1].process is "": wanted text, not empty'],
    [['members', 1, 'id'], 'a', 'members[1].id is "a", as members[0].id: wanted each once'],
    [['topology', 1, 'id'], '0', 'topology[1].id is "0", as topology[0].id: wanted each once'],
    [
      ['members', 0, 'standby', '7'],
      [0],
      'members[0].standby has "7": wanted a subtopology of the topology',
    ],
    [
      ['members', 0, 'offsets', 'x y'],
      { '0': 1 },
      'members[0].offsets has "x y": wanted a subtopology of the topology',
    ],
    [
      ['members', 0, 'active', '0', 1],
      4,
      'members[0].active["0"][1] has partition 4: wanted 0 to 3',
    ],
    [
      ['members', 0, 'active', '0', 1],
      0,
      'members[0].active["0"][1] is 0: wanted each partition once',
    ],
    [
      ['members', 0, 'active', '0', 1],
      -1,
      'members[0].active["0"][1] is -1: wanted a whole number from 0 to 999999',
    ],
    [
      ['members', 0, 'target', 'active', '0', 0],
      4,
      'members[0].target.active["0"][0] has partition 4: wanted 0 to 3',
    ],
    [
      ['departed', 0, 'active', '0', 0],
      9,
      'departed[0].active["0"][0] has partition 9: wanted 0 to 3',
    ],
    [
      ['members', 0, 'endOffsets', '0', '4'],
      1,
      'members[0].endOffsets["0"] has partition "4": wanted 0 to 3',
    ],
    [
      ['members', 0, 'offsets', '0', '01'],
      1,
      'members[0].offsets["0"] has partition "01": wanted 0 to 3',
    ],
    ...[-1, 0.5, 2 ** 53, '9223372036854775808', '-1', '1e3', '', null].map(
      (value): Refused => [
        ['members', 0, 'offsets', '0', '3'],
        value,
        `members[0].offsets["0"]["3"] is ${typeof value === 'string' ? JSON.stringify(value) : value}: wanted a whole number from 0 to 9223372036854775807, above 9007199254740991 as digits in a string`,
      ],
    ),
    [
      ['members', 0, 'stale'],
      true,
      'members[0].stale is true, as configs.placeAsKafka is: wanted one of them at most',
    ],
    [['members', 0, 'stale'], 1, 'members[0].stale is 1: wanted true or false'],
    [['members', 0, 'tags'], ['zone'], 'members[0].tags is a list: wanted an object'],
    [['members', 0, 'tags', 'zone'], null, 'members[0].tags.zone is null: wanted text'],
    [['members'], {}, 'members is an object: wanted a list'],
    [
      ['topology', 0, 'partitions'],
      4,
      'topology[0].partitions is not known: wanted only id, tasks, stateful',
    ],
    [
      ['configs', 'numStandbyReplicas'],
      -1,
      'configs.numStandbyReplicas is -1: wanted a whole number from 0 to 100',
    ],
    [
      ['topology', 0, 'tasks'],
      CELL_TASKS_MAX + 1,
      `topology[0].tasks is 1000001: wanted a whole number from 0 to ${CELL_TASKS_MAX}`,
    ],
    [
      ['topology', 0, 'tasks'],
      CELL_TASKS_MAX - 1,
      `topology[1] makes 1000001 tasks: wanted at most ${CELL_TASKS_MAX}`,
    ],
    [
      ['members'],
      Array(CELL_MEMBERS_MAX + 1).fill(0),
      `members has 100001 entries: wanted at most ${CELL_MEMBERS_MAX}`,
    ],
    [
      ['members', 0, 'stale'],
      'x'.repeat(99),
      `members[0].stale is "${'x'.repeat(60)}"…: wanted true or false`,
    ],
  ];
  for (const [path, value, text] of refused) {
    it(`refuses: ${text}`, () => {
      expect(refusalOf(() => readCell(changed(path, value)))).to.equal(text);
    });
  }

  it('refuses more standbys than there is memory for', () => {
    const members = Array.from({ length: 4 }, (_, at) => ({ id: `${at}`, process: `${at}` }));
    const cell = {
      cell: 'c',
      configs: { numStandbyReplicas: 50 },
      topology: [{ id: '0', tasks: CELL_TASKS_MAX }],
      members,
    };
    expect(refusalOf(() => readCell(cell))).to.equal(
      `configs.numStandbyReplicas makes up to 3000000 standbys: wanted at most ${CELL_COPIES_MAX}`,
    );
  });

  it('refuses what is too long, no JSON, or no object', () => {
    expect(refusalOf(() => parseCell(' '.repeat(CELL_BYTES_MAX + 1)))).to.equal(
      `It is ${CELL_BYTES_MAX + 1} characters long: wanted at most ${CELL_BYTES_MAX}`,
    );
    expect(refusalOf(() => parseCell('{"cell":'))).to.match(/^It is not JSON: /);
    expect(refusalOf(() => parseCell('[]'))).to.equal('It is a list: wanted an object');
  });

  it('passes over the mark that some editors put first', () => {
    const cell = { cell: 'c', topology: [], members: [] };
    expect(parseCell(`\uFEFF${JSON.stringify(cell)}`)).to.deep.equal(cell);
  });

  it('refuses what is nested without end, and what is named without end, in a few characters', () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const refusal = refusalOf(() =>
      parseCell(`{"cell":"c","topology":[],"members":[],"${'x'.repeat(100_000)}":${nested}}`),
    );
    expect(refusal).to.match(/^\["x{60}"…\] is not known: wanted only cell, /);
    expect(refusalOf(() => parseCell(`{"cell":${nested}}`))).to.equal(
      'cell is a list: wanted text',
    );
  });

  it('reads or refuses whatever a file was changed into, in one line', () => {
    const json = JSON.stringify(WHOLE, null, 1);
    const places = fc.nat({ max: json.length });
    const edits = fc.array(fc.tuple(places, fc.nat({ max: 5 }), fc.string({ maxLength: 4 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(edits, (list) => {
        const text = list.reduce(
          (before, [at, gone, added]) => before.slice(0, at) + added + before.slice(at + gone),
          json,
        );
        expect(refusalOf(() => parseCell(text))).to.match(/^[^\n]+$/);
      }),
    );
  });

  it('reads or refuses any value anywhere, in one line that names the place', () => {
    const paths = pathsOf(WHOLE, []);
    const values = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(-1, 2 ** 53, 0.5, '0', '__proto__'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...paths), values, (path, value) => {
        const refusal = refusalOf(() => readCell(changed(path, value)));
        expect(refusal).to.match(/^[^\n]+$/);
        // What became wrong elsewhere: a task that its subtopology does not have any more.
        if (refusal === 'none' || path[0] === 'topology') return;
        expect(refusal).to.contain(path[0]);
      }),
      { numRuns: 500 },
    );
  });
});

/** Every place inside a value. */
function pathsOf(value: unknown, path: readonly (string | number)[]): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [
    [...path, key],
    ...pathsOf((value as Record<string | number, unknown>)[key], [...path, key]),
  ]);
}
