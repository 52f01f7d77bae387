import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type GroupResult, gatherProblem } from '../../machines/model/assignment.ts';
import type { ModuleFaultName, StandIn } from '../../machines/model/assignors.ts';
import { AssignorModuleError, AssignorModules } from '../../workers/assignor-modules.ts';
import { frameOf } from '../../workers/frames.ts';
import { AssignorPool } from '../../workers/pool.ts';
import { listResult } from '../../workers/problem.ts';
import { assignDirectly, assignmentMember, assignmentProblem } from '../support/assignment.ts';
import { gone } from '../support/found.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

/** Long enough for any machine, short enough to fail a test. */
const PATIENCE = { deadlineMs: 15_000 };
const HOUR_MS = 3_600_000;
const MEGABYTE = 1_024 * 1_024;

/** Code that answers in numbers itself, behind the back of whoever reads what a module returns. */
function forged(...members: readonly number[]): string {
  const placement = Buffer.from(Int32Array.from(members).buffer);
  const frame = [...frameOf(Uint8Array.of(PLACED), placement)];
  return `(await import('node:fs')).writeSync(3, Uint8Array.from([${frame}])); await new Promise(() => {})`;
}

/** The first byte of an answer with a placement. */
const PLACED = 1;

/** What a module can do wrong, by the group that it is asked about; `allToFirst` is what it does right. */
const MISDEEDS: Readonly<Record<string, readonly [ModuleFaultName, reason: RegExp, code: string]>> =
  {
    throws: ['threw', /^RangeError: no \(at .*bad.mjs:3:\d+\)+$/, "throw new RangeError('no')"],
    'throws a screenful': [
      'threw',
      /^one two \[2J three \(at /,
      "throw new Error('one\\n\\ttwo\\x1b[2J\\r\\n three')",
    ],
    'throws nothing': ['threw', /^undefined$/, 'throw undefined'],
    'throws something untold': ['threw', /cannot be told/, 'throw { toString() { throw 1 } }'],
    'rejects later': [
      'threw',
      /^late/,
      "await new Promise((go) => setTimeout(go, 1)); throw new Error('late')",
    ],
    'runs for ever': ['timeout', /within 400 ms$/, 'for (;;);'],
    'never resolves': ['timeout', /within 400 ms$/, 'await new Promise(() => {})'],
    'hangs in the system': [
      'timeout',
      /within 400 ms$/,
      "(await import('node:child_process')).execSync('sleep 5')",
    ],
    'matches for ever': ['timeout', /within 400 ms$/, "/^(a+)+$/.test('a'.repeat(50) + 'b')"],
    'returns rubbish': ['invalid', /^It returned 7, wanted a Map/, 'return 7'],
    'returns a trap': [
      'invalid',
      /trap/,
      "return new Proxy({}, { ownKeys() { throw new Error('trap') } })",
    ],
    'returns a trap without end': [
      'timeout',
      /within/,
      'return new Proxy({}, { ownKeys() { for (;;); } })',
    ],
    'forgets a task': ['invalid', /^Task 0_0 is active on no member$/, 'return {}'],
    'forgets standbys': [
      'invalid',
      /^Task 0_0 has 0 standbys, wanted 1$/,
      "return { a: { active: ['0_0', '0_1'] } }",
    ],
    'forges an assignment': ['broken', /^H5: /, forged(0, 0, -1, -1)],
    'forges a member': ['broken', /^H2: /, forged(0, 9, -1, -1)],
    'forges too few tasks': ['invalid', /cannot be read/, forged(0)],
    'forges too many tasks': ['broken', /^H2: /, forged(0, 0, 1, 1, 1)],
    exits: ['ended', /^Its process ended with code 7$/, 'process.exit(7)'],
    'kills itself': [
      'ended',
      /^Its process ended with SIGKILL$/,
      "process.kill(process.pid, 'SIGKILL')",
    ],
    'leaves a rejection': [
      'ended',
      /^An error was left to itself: forgotten \(at .*\)$/,
      "Promise.reject(new Error('forgotten')); await new Promise(() => {})",
    ],
    'eats the heap': [
      'memory',
      /memory/,
      'const eaten = []; for (;;) eaten.push(new Array(1e6).fill(1))',
    ],
    'eats the heap at once': [
      'memory',
      /memory/,
      'globalThis.eaten = new Array(3e7).fill({ a: 1 }); await new Promise(() => {})',
    ],
    'eats memory beside the heap': [
      'memory',
      /memory/,
      'const eaten = []; for (;;) eaten.push(Buffer.alloc(1e7, 1))',
    ],
    'writes answers itself': [
      'invalid',
      /cannot be read/,
      "const { writeSync } = await import('node:fs'); writeSync(3, Buffer.alloc(64, 255)); await new Promise(() => {})",
    ],
    'answers too much': [
      'invalid',
      /bytes, wanted at most/,
      "const { writeSync } = await import('node:fs'); writeSync(3, Buffer.from([64, 0, 0, 0])); await new Promise(() => {})",
    ],
    'spoils what all use': [
      'invalid',
      /./,
      'Array.prototype.map = Map.prototype.get = Array.isArray = () => []; Int32Array.prototype.fill = () => ({ indexOf: () => -1 })',
    ],
  };

const BAD = `
const misdeeds = {
${Object.entries(MISDEEDS)
  .map(([group, [, , code]]) => `  ${JSON.stringify(group)}: async () => { ${code} },`)
  .join('\n')}
};
export default async function bad({ groupId, tasks, members, standbysPerTask }) {
  if (groupId in misdeeds) return misdeeds[groupId]();
  const [first, second] = members;
  const all = tasks.map(({ taskId }) => taskId);
  return { [first.memberId]: { active: all }, [second.memberId]: { standby: all } };
}
`;

/** Starts a process, leaves its id in a file, and fails. */
const STARTER = `
import { execSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const startFor = (groupId) => {
  const { pid } = spawn('sleep', ['600'], { stdio: 'inherit' });
  writeFileSync(new URL(groupId, import.meta.url), String(pid));
};
const misdeeds = {
  'runs a command': () => execSync('echo $$ > "runs a command" && exec sleep 600', {
    cwd: new URL('.', import.meta.url),
  }),
  'leaves one behind': (groupId) => {
    startFor(groupId);
    process.exit();
  },
  'leaves one behind, and eats memory': (groupId) => {
    startFor(groupId);
    const eaten = [];
    for (;;) eaten.push(Buffer.alloc(1e7, 1));
  },
};
export default ({ groupId }) => misdeeds[groupId](groupId);
`;

/** Two processes, two tasks with a standby each. */
function problemOf(groupId: string) {
  return assignmentProblem({
    groupId,
    assignor: 'mine',
    numStandbyReplicas: 1,
    subtopologies: [{ subtopologyId: '0', taskCount: 2, stateful: true }],
    members: ['a', 'b'].map((memberId) => assignmentMember(memberId, { processId: memberId })),
  });
}

/** What one of our assignors makes of it. */
function standInResult(groupId: string) {
  return assignDirectly({ ...problemOf(groupId), assignor: 'highly_available' });
}

const ALL = [{ subtopologyId: '0', partitions: [0, 1] }];
const ALL_TO_FIRST = {
  members: [
    { active: ALL, standby: [] },
    { active: [], standby: ALL },
  ],
  unassigned: [],
};

/** Of a pool and its module. */
type Bounds = {
  readonly timeoutMs: number;
  readonly turnMs?: number;
  readonly waitingMax?: number;
  readonly queueMax?: number;
};

describe("assignors of one's own", function () {
  this.timeout(60_000);
  const closers: (() => Promise<void>)[] = [];
  const said: [string, object][] = [];
  const log = {
    warn: (fields: object, text: string) => void said.push([text, fields]),
    info: (fields: object, text: string) => void said.push([text, fields]),
  };
  let nowMs = 0;

  /** A pool that has this module as `mine`. */
  async function start(
    folder: string,
    text: string,
    bounds: Bounds = { timeoutMs: 10_000 },
  ): Promise<(groupId: string, assignor?: string) => Promise<GroupResult>> {
    const file = join(folder, 'bad.mjs');
    await writeFile(file, text);
    const modules = await AssignorModules.open({
      modules: [{ name: 'mine', file }],
      ...bounds,
      memoryMaxBytes: 192 * MEGABYTE,
      log,
      monotonicMs: () => nowMs,
    });
    const pool = new AssignorPool({ threads: 1, queueMax: bounds.queueMax ?? 100, log, modules });
    closers.push(
      () => modules.close(),
      () => pool.close(),
    );
    return (groupId, assignor = 'mine') =>
      pool.assign(gatherProblem({ ...problemOf(groupId), assignor }), PATIENCE);
  }

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    said.length = 0;
  });

  it('assign; what one does wrong ends in an assignment of ours, and the next group has it again (OFF-6)', () =>
    inTemporaryFolder(async (folder) => {
      // Who hangs does so for a moment; everybody else has the time that a busy machine needs.
      const hurried = await start(folder, BAD, { timeoutMs: 400 });
      const patient = await start(folder, BAD, { timeoutMs: 10_000 });
      for (const [groupId, [fault, reason]] of Object.entries(MISDEEDS)) {
        const assign = fault === 'timeout' ? hurried : patient;
        // Every time after any rest.
        nowMs += HOUR_MS;
        const { standIn, ...result } = await assign(groupId);
        expect(standIn, groupId).to.include({
          assignor: 'highly_available',
          insteadOf: 'mine',
          fault,
        } satisfies Partial<StandIn>);
        expect(standIn?.reason, groupId).to.match(reason);
        expect(listResult(problemOf(groupId), result), groupId).to.deep.equal(
          standInResult(groupId),
        );
        const { standIn: none, ...good } = await assign('good');
        expect([none, listResult(problemOf('good'), good)], `after ${groupId}`).to.deep.equal([
          undefined,
          ALL_TO_FIRST,
        ]);
      }
    }));

  describe('after faults', () => {
    const MENDED = 'mended';
    const SOMETIMES_ILL = `
      import { existsSync } from 'node:fs';
      export default ({ groupId, tasks, members: [first, second] }) => {
        const isMended = existsSync(new URL('${MENDED}', import.meta.url));
        if (groupId === 'ill' && !isMended) throw new Error('ill');
        const all = tasks.map(({ taskId }) => taskId);
        return { [first.memberId]: { active: all }, [second.memberId]: { standby: all } };
      };`;
    const GAVE_NONE = 'Assignor module gave no assignment';
    const AGAIN = 'Assignor module assigns again';

    /** Asks for groups one after the other; tells what was wrong each time. */
    const asker = (assign: (groupId: string) => Promise<GroupResult>) => {
      return async (...groups: readonly string[]) => {
        const found: (string | undefined)[] = [];
        for (const group of groups) found.push((await assign(group)).standIn?.fault);
        return found;
      };
    };
    const told = () =>
      said.map(([text, fields]) => {
        const { groupId, fault } = fields as Record<string, unknown>;
        return [text, groupId, fault];
      });

    it('they rest for a group after three in a row, longer each time, and warn once for each change', () =>
      inTemporaryFolder(async (folder) => {
        const assign = await start(folder, SOMETIMES_ILL);
        const faults = asker(assign);
        expect(await faults('ill', 'well', 'ill', 'ill', 'ill', 'well')).to.deep.equal([
          ...['threw', undefined, 'threw', 'threw'],
          ...['resting', undefined],
        ]);
        nowMs += 9_999;
        expect(await faults('ill')).to.deep.equal(['resting']);
        nowMs += 1;
        expect(await faults('ill')).to.deep.equal(['threw']);
        nowMs += 19_999;
        expect((await assign('ill')).standIn?.reason).to.match(
          /^It is not asked for another 1 s, after 4 faults in a row: ill \(at /,
        );
        await writeFile(join(folder, MENDED), '');
        nowMs += 1;
        expect(await faults('ill', 'ill')).to.deep.equal([undefined, undefined]);
        expect(told()).to.deep.equal([
          [GAVE_NONE, 'ill', 'threw'],
          [GAVE_NONE, 'ill', 'resting'],
          [GAVE_NONE, 'ill', 'threw'],
          [GAVE_NONE, 'ill', 'resting'],
          [AGAIN, 'ill', undefined],
        ]);
      }));

    it('they rest for all groups when they cannot be loaded any more', () =>
      inTemporaryFolder(async (folder) => {
        const faults = asker(await start(folder, SOMETIMES_ILL));
        await writeFile(join(folder, 'bad.mjs'), 'export default (');
        expect(await faults('well', 'ill', 'well', 'a', 'b', 'well')).to.deep.equal([
          ...[undefined, 'threw'],
          ...['load', 'load', 'load', 'resting'],
        ]);
        await writeFile(join(folder, 'bad.mjs'), SOMETIMES_ILL);
        nowMs += 10_000;
        expect(await faults('well', 'a')).to.deep.equal([undefined, undefined]);
      }));
  });

  it('keep nobody waiting: groups with ours go on, others wait for their turn in bounds', () =>
    inTemporaryFolder(async (folder) => {
      const assign = await start(folder, BAD, { timeoutMs: 1_500, turnMs: 500 });
      const order: string[] = [];
      const note = async (groupId: string) => {
        const { standIn } = await assign(groupId);
        order.push(`${groupId}: ${standIn?.fault ?? 'good'}`);
      };
      const hanging = ['runs for ever', 'good', 'good'].map(note);
      for (let run = 0; run < 20; run++) await assign('ours', 'sticky');
      order.push('twenty runs of ours');
      await Promise.all(hanging);
      expect(order).to.deep.equal([
        'twenty runs of ours',
        ...['good: busy', 'good: busy', 'runs for ever: timeout'],
      ]);
    }));

  it('take no room from groups with ours; one more than may wait for them is assigned at once (OFF-6)', () =>
    inTemporaryFolder(async (folder) => {
      const bounds = { timeoutMs: 1_500, turnMs: 30_000, waitingMax: 4, queueMax: 1 };
      const assign = await start(folder, BAD, bounds);
      const order: string[] = [];
      const note = async (groupId: string, assignor?: string) => {
        const { standIn } = await assign(groupId, assignor);
        order.push(`${groupId}: ${standIn?.reason ?? 'good'}`);
      };
      const waiting = ['runs for ever', ...Array(4).fill('good')].map((each) => note(each));
      const further = Array.from({ length: 2 }, () => note('one more'));
      const ours = Array.from({ length: 2 }, () => note('ours', 'sticky'));
      await Promise.all([...further, ...ours]);
      expect(order.splice(0).toSorted()).to.deep.equal([
        ...Array(2).fill('one more: As many as 4 groups wait for it already'),
        ...Array(2).fill('ours: good'),
      ]);
      await Promise.all(waiting);
      expect(order).to.deep.equal([
        'runs for ever: It gave no answer within 1500 ms',
        ...Array(4).fill('good: good'),
      ]);
    }));

  it('end with all that they have started', () =>
    inTemporaryFolder(async (folder) => {
      const assign = await start(folder, STARTER, { timeoutMs: 1_500 });
      for (const [groupId, fault] of [
        ['runs a command', 'timeout'],
        ['leaves one behind', 'ended'],
        ['leaves one behind, and eats memory', 'memory'],
      ] as const) {
        expect((await assign(groupId)).standIn?.fault, groupId).to.equal(fault);
        await gone(Number(await readFile(join(folder, groupId), 'utf8')));
      }
    }));

  it('are not asked where there is nothing to assign', () =>
    inTemporaryFolder(async (folder) => {
      await start(folder, 'export default () => { throw new Error("asked"); }');
      const modules = await AssignorModules.open({
        modules: [{ name: 'mine', file: join(folder, 'bad.mjs') }],
        timeoutMs: 400,
        memoryMaxBytes: 192 * MEGABYTE,
        log,
      });
      const pool = new AssignorPool({ threads: 1, queueMax: 10, log, modules });
      closers.push(
        () => modules.close(),
        () => pool.close(),
      );
      const empty = { ...problemOf('empty'), subtopologies: [] };
      const { standIn, ...result } = await pool.assign(gatherProblem(empty), PATIENCE);
      expect([standIn, listResult(empty, result).unassigned]).to.deep.equal([undefined, []]);
    }));

  it('are refused at the start, all that cannot be used in one message', () =>
    inTemporaryFolder(async (folder) => {
      const texts: Readonly<Record<string, string>> = {
        none: 'export const assign = () => {};',
        broken: 'export default (',
        throws: "throw new Error('at once');",
        exits: 'process.exit(3);',
        fine: 'export default () => ({});',
      };
      for (const [name, text] of Object.entries(texts)) {
        await writeFile(join(folder, `${name}.mjs`), text);
      }
      const open = AssignorModules.open({
        modules: [...Object.keys(texts), 'gone'].map((name) => ({
          name,
          file: join(folder, `${name}.mjs`),
        })),
        timeoutMs: 400,
        memoryMaxBytes: 192 * MEGABYTE,
        log,
      });
      const error = await rejectionOf(open);
      expect(error).to.be.instanceOf(AssignorModuleError);
      const lines = (error as Error).message.replaceAll(folder, '').split('\n');
      const [none, broken, throws, exits, gone] = lines;
      expect(lines).to.have.length(5);
      expect(none).to.equal(
        'Cannot use assignor module "none" (/none.mjs): Its default export is of type undefined, wanted a function',
      );
      expect(broken).to.match(
        /^Cannot use assignor module "broken" \(\/broken.mjs\): SyntaxError: /,
      );
      expect(throws).to.match(/"throws" \(\/throws.mjs\): at once/);
      expect(exits).to.match(/"exits" \(\/exits.mjs\): Its process ended with code 3$/);
      expect(gone).to.equal('Cannot use assignor module "gone" (/gone.mjs): There is no such file');
    }));
});
