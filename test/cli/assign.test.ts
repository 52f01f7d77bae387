import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { FakeIo } from '../support/fake-io.ts';
import { projectRoot } from '../support/oracle.ts';
import { CELL, ProblemOnDisk } from '../support/problem-on-disk.ts';

describe('headgate assign', () => {
  let problem: ProblemOnDisk;
  let file: string;
  let io: FakeIo;

  beforeEach(async () => {
    problem = await ProblemOnDisk.open();
    ({ file } = problem);
    io = new FakeIo();
  });

  afterEach(() => problem.close());

  const keep = (cell: unknown) => problem.keep(cell);
  const assign = (...args: readonly string[]) => io.run('assign', '--problem', file, ...args);
  const lines = () => io.output.split('\n').map((line) => line.split(/ {2,}/));

  it('prints what would move, and how good that is', async () => {
    expect(await assign()).to.equal(0);
    expect(io.output).to.equal(
      [
        'Group orders at epoch 7: 3 tasks, standbys 1, 3 members in 3 processes',
        '',
        'TASK  ROLE     FROM  TO  WHY',
        '0_1   active   a     c   its owner had more than an even share of tasks with state (1); c had a standby',
        '0_1   standby  c     a   a process with a standby runs it now; a had it as active',
        '',
        'MEASURE                               sticky  BEST',
        'actives that move to another member   1 of 3  as few as evenness allows',
        '  least for evenness                  1',
        'actives with state that move          1 of 3  as few as evenness allows',
        '  least for evenness                  1',
        'actives that had no owner before      0',
        'standbys that move to another member  1       few',
        'standbys that had no owner before     0',
        'standbys that are missing             0       0',
        'copies of state to build              0       few',
        'copies that stay (Q8)                 3 of 3  all',
        'spread of actives with state (Q1)     0       0 or 1',
        'spread of actives (Q2)                0       0 or 1',
        'spread of load of processes (Q4b)     2       small',
        'tasks that nobody may take            0       0',
        'diversity of copies by zone (Q10)     1       1',
        '',
      ].join('\n'),
    );
    expect(readFileSync(file, 'utf8')).to.equal(JSON.stringify(CELL));
  });

  it('writes control characters of names as escapes, which a terminal would obey', async () => {
    const named = JSON.stringify(CELL).replaceAll('"c"', JSON.stringify('c\u001b[31m\nd'));
    keep(JSON.parse(named));
    expect(await assign()).to.equal(0);
    expect(lines()[3]?.slice(0, 4)).to.deep.equal(['0_1', 'active', 'a', 'c\\u001b[31m\\u000ad']);
    expect(io.output).to.match(/^[^\p{Cc}\n]*(\n[^\p{Cc}]*)*$/u);
    expect(lines()).to.have.length(23);
  });

  it('measures by the names that docs/assignors.md explains', async () => {
    const [a, b, c] = CELL.members;
    keep({ ...CELL, members: [a, { ...b, offsets: { '0': { '1': 5 } } }, c] });
    await assign();
    const names = lines()
      .slice(lines().findIndex(([name]) => name === 'MEASURE') + 1, -1)
      .map(([first = '', second = '']) => (first === '' ? second : first));
    const explained = readFileSync(join(projectRoot, 'docs/assignors.md'), 'utf8')
      .replaceAll('| ... ', '| ')
      .replace('by a tag', 'by zone');
    expect(names).to.have.length(16);
    expect(names.filter((name) => !explained.includes(`\n| ${name} |`))).to.deep.equal([]);
  });

  it('answers the same as JSON', async () => {
    expect(await assign('--json')).to.equal(0);
    const { problem, answers } = JSON.parse(io.output);
    expect(problem).to.deep.equal({
      cell: 'orders',
      assignor: 'sticky',
      group: { id: 'orders', epoch: 7 },
      dump: null,
      configs: CELL.configs,
      subtopologies: 1,
      tasks: 3,
      members: 3,
      processes: 3,
    });
    expect(answers).to.have.length(1);
    expect(answers[0].moves).to.deep.equal([
      {
        ...{ task: '0_1', role: 'active', from: 'a', hasLeft: false, to: 'c' },
        reason: { leaving: 'aboveStatefulShare', landing: 'hadStandby' },
        dropped: null,
        isUnderWay: false,
      },
      {
        ...{ task: '0_1', role: 'standby', from: 'c', hasLeft: false, to: 'a' },
        reason: { leaving: 'copyPromoted', landing: 'wasActive' },
        dropped: null,
        isUnderWay: false,
      },
    ]);
    expect(answers[0].figures).to.include({ moved: 1, leastMoved: 1, copiesBuilt: 0 });
    const explained = readFileSync(join(projectRoot, 'docs/assignors.md'), 'utf8');
    const [
      {
        assignor: _,
        figures,
        moves: [move],
        ...more
      },
    ] = answers;
    const keys = [figures, move, more].flatMap((each) => Object.keys(each));
    expect(keys.filter((key) => !explained.includes(`\`${key}\``))).to.deep.equal([]);
    expect(answers[0]).to.include({
      activesUnowned: 0,
      standbysMoved: 1,
      standbysUnowned: 0,
      standbysMissing: 0,
    });
  });

  it('cuts the list of moves where it is told to', async () => {
    await assign('--limit', '1');
    expect(
      lines()
        .slice(2, 5)
        .map((words) => words.slice(0, 4)),
    ).to.deep.equal([
      ['TASK', 'ROLE', 'FROM', 'TO'],
      ['0_1', 'active', 'a', 'c'],
      ['and 1 more (--limit, --json)'],
    ]);
  });

  it('says why a task goes to nobody', async () => {
    keep({
      cell: 'c',
      configs: { numStandbyReplicas: 0 },
      topology: [
        { id: '0', tasks: 2, stateful: true },
        { id: '1', tasks: 1 },
      ],
      members: [
        { id: 'a', process: 'pa', active: { '0': [0, 1] } },
        { id: 'b', process: 'pb', active: { '0': [1] }, standby: { '0': [0], '1': [0] } },
        { id: 'b2', process: 'pb', standby: { '0': [1] } },
        { id: 'c', process: 'pc', active: { '1': [0] } },
      ],
    });
    expect(await assign()).to.equal(0);
    expect(lines().slice(3, 7)).to.deep.equal([
      ['0_0', 'standby', 'b', '-', 'no more standbys are asked for'],
      ['0_1', 'active', 'a', '-', 'several members have it as active: it goes on with one'],
      ['0_1', 'standby', 'b2', '-', 'its process has the task anyway'],
      ['1_0', 'standby', 'b', '-', 'a task without state has no standby'],
    ]);
  });

  it('says who counts as the owner of a task that is active on several members', async () => {
    const contested = {
      cell: 'c',
      topology: [{ id: '0', tasks: 5 }],
      members: ['b', 'a'].map((id) => ({ id, process: id, active: { '0': [3, 1, 2, 0] } })),
    };
    keep(contested);
    expect(await assign()).to.equal(0);
    expect(io.errors).to.equal(
      '4 tasks are active on several members, of whom the first by id counts as the owner: ' +
        '0_0 (a, b), 0_1 (a, b), 0_2 (a, b) and 1 more\n',
    );
    keep({ ...contested, configs: { placeAsKafka: true } });
    await assign();
    expect(io.errors).to.match(
      / the first by id counts as the owner, to sticky as Kafka has it the last in its order: 0_0 /,
    );
    const names = ['d', 'c', 'b', 'a\nb'];
    const members = names.map((id) => ({ id, process: id, active: { '0': [0] } }));
    keep({ ...contested, members });
    await assign();
    expect(io.errors).to.match(/: 0_0 \(a\\u000ab, b, c and 1 more\)\n$/);
  });

  it('says that nothing moves', async () => {
    keep({ cell: 'c', topology: [], members: [] });
    expect(await assign()).to.equal(0);
    expect(io.output).to.match(
      /^Cell c: 0 tasks, standbys 0, 0 members in 0 processes\n\nNothing moves\n/,
    );
    expect(io.output).to.not.contain('NaN');
  });

  it('compares all assignors, or those that are named', async () => {
    expect(await assign('--compare')).to.equal(0);
    expect(lines()[2]).to.deep.equal(['MEASURE', 'sticky', 'balanced', 'highly_available', 'BEST']);
    expect(lines().at(-2)?.slice(-4)).to.deep.equal(['1', '1', '1', '1']);
    expect(await assign('--assignor', 'balanced', '--assignor', 'sticky')).to.equal(0);
    expect(lines()[2]).to.deep.equal(['MEASURE', 'balanced', 'sticky', 'BEST']);
  });

  it('says what was kept, and why', async () => {
    keep({ ...CELL, dump: { at: '2026-11-30T16:03:14.106Z', why: 'broken', detail: 'H1: twice' } });
    await assign();
    expect(lines()[1]).to.deep.equal(['Kept 2026-11-30T16:03:14.106Z, broken: H1: twice']);
  });

  it('fails with the reason when the assignor does', async () => {
    keep({ ...CELL, members: [] });
    expect(await assign()).to.equal(1);
    expect(io.errors).to.equal(
      'Assignor sticky failed: Cannot assign the tasks of group "orders": no process is available\n',
    );
  });

  it('refuses what it cannot be asked with exit code 2', async () => {
    const asked: readonly (readonly [args: readonly string[], said: RegExp])[] = [
      [[], /^error: wanted one of --problem, --group and --cells\n/],
      [['--group', ''], /^error: wanted the id of a group with --group\n/],
      [['--problem', 'x', '--write', '-'], /^error: wanted the path of a file with --write\n/],
      [['--problem', file, '--group', 'g'], /^error: wanted only one of --problem and --group\n/],
      [['--problem', file, '--once'], /^error: option '--once' is only for --cells\n/],
      [['--problem', file, '--module', 'x'], /Wrong: "x" is not of the form name=path\.\n/],
      [['--problem', file, '--module', 'a b=x'], /Wrong: "a b" is not a name of /],
      [
        ['--problem', file, '--module', 'sticky=x'],
        /Wrong: "sticky" is the name of an assignor of/,
      ],
      [['--problem', file, '--module', 'x=x', '--module', 'x=y'], /Wrong: "x" is there twice\.\n/],
      [['--problem', file, '--add-member', 'c,zone'], /Wanted \[ID\]\[@PROCESS\]\[,TAG=VALUE/],
      [['--cells', '--standbys', '1'], /'--cells' cannot be used with option '--standbys/],
      [['--problem', file, '--assignor', 'x'], /^Cannot use assignor "x": wanted one of sticky, /],
      [
        ['--problem', file, '--standbys', '-1'],
        /'--standbys <number>' .*Wanted a whole number from 0 to 100\./,
      ],
      [['--problem', file, '--tasks', '0'], /Wanted SUBTOPOLOGY=NUMBER/],
      [
        ['--problem', file, '--remove-member', 'x'],
        /^Cannot remove: the problem has no member "x"\n$/,
      ],
      [
        ['--problem', file, '--lag', 'x'],
        /'--lag <number>' .*Wanted .* 0 to 9223372036854775807\./,
      ],
      [['--problem', file, '--lag', '9223372036854775808'], /'--lag <number>' argument/],
      [['--problem', file, '--standbys', '101'], /'--standbys <number>' argument '101' is invalid/],
      [['--problem', file, '--tags', 'zone, zone'], /'--tags <tag,..>' .*none twice, sep/],
      [['--problem', file, '--tags', 'zone,,rack'], /'--tags <tag,..>' .*none of them empty/],
      [['--problem', file, '--add-member', 'x@'], /Wanted \[ID\]\[@PROCESS\]/],
      [['--problem', file, '--add-member', 'x,zone=a,zone=b'], /Wanted each tag once\./],
      [
        ['--problem', file, '--write', 'a', '--write', 'b'],
        /^error: option '--write <file>' is given twice\n/,
      ],
    ];
    for (const [args, said] of asked) {
      expect(await io.run('assign', ...args), args.join(' ')).to.equal(2);
      expect(io.errors).to.match(said);
    }
  });

  it('refuses a problem of an assignor that is not here, unless another one is named', async () => {
    keep({ ...CELL, assignor: 'own' });
    expect(await assign()).to.equal(2);
    expect(io.errors).to.equal(
      'Cannot assign as "own" does: it is none of sticky, balanced, highly_available: if it is one of your own, ' +
        'add --module own=PATH, or name another one with --assignor\n',
    );
    expect(await assign('--assignor', 'sticky')).to.equal(0);
  });

  it('says of an assignor that is not here that it is left out of the comparison', async () => {
    keep({ ...CELL, assignor: 'own' });
    expect(await assign('--compare')).to.equal(0);
    expect(lines()[2]).to.deep.equal(['MEASURE', 'sticky', 'balanced', 'highly_available', 'BEST']);
    expect(lines().at(-2)).to.deep.equal([
      'own: it is none of sticky, balanced, highly_available: if it is one of your own, add --module own=PATH, ' +
        'or name another one with --assignor',
    ]);
  });

  it('counts what is new, and what is missing, apart from what moves', async () => {
    keep({
      cell: 'new',
      configs: { numStandbyReplicas: 2 },
      topology: [{ id: '0', tasks: 2, stateful: true }],
      members: [
        { id: 'a', process: 'pa' },
        { id: 'b', process: 'pb' },
      ],
    });
    expect(await assign()).to.equal(0);
    expect(io.errors).to.equal('');
    const rowOf = (name: string) => lines().find(([measure]) => measure === name)?.[1];
    expect(
      [
        'actives that move to another member',
        'actives that had no owner before',
        'standbys that move to another member',
        'standbys that had no owner before',
        'standbys that are missing',
      ].map(rowOf),
    ).to.deep.equal([undefined, '2', '0', '2', '2']);
  });

  it('leaves out what means nothing for a group without state', async () => {
    keep({
      cell: 'stateless',
      topology: [{ id: '0', tasks: 2 }],
      members: [
        { id: 'a', process: 'pa', active: { '0': [0] } },
        { id: 'b', process: 'pb' },
      ],
    });
    expect(await assign('--compare')).to.equal(0);
    expect(lines().map(([first = '', second = '']) => first || second)).to.deep.equal([
      'Cell stateless: 2 tasks, standbys 0, 2 members in 2 processes',
      '',
      'MEASURE',
      'actives that move to another member',
      'least for evenness',
      'actives that had no owner before',
      'spread of actives (Q2)',
      'spread of load of processes (Q4b)',
      'tasks that nobody may take',
      '',
    ]);
  });

  it('shows as many moves as there may be', async () => {
    keep({
      cell: 'large',
      topology: [{ id: '0', tasks: 150_000 }],
      members: [{ id: 'a', process: 'pa' }],
    });
    expect(await assign('--limit', '150000')).to.equal(0);
    expect(lines()).to.have.length.above(150_000);
  });

  it('speaks of one member as of one', async () => {
    keep({
      cell: 'c',
      topology: [{ id: '0', tasks: 1 }],
      members: [{ id: 'a', process: 'p' }],
    });
    await assign();
    expect(lines()[0]).to.deep.equal(['Cell c: 1 task, standbys 0, 1 member in 1 process']);
  });
});
