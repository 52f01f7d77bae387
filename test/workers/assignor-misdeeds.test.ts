import { expect } from 'chai';
import type { ModuleFaultName, StandIn } from '../../machines/model/assignors.ts';
import { frameOf } from '../../workers/frames.ts';
import { listResult } from '../../workers/problem.ts';
import { assignDirectly } from '../support/assignment.ts';
import { OwnAssignorStage, ownProblem } from '../support/own-assignor-stage.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const HOUR_MS = 3_600_000;

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
    throws: ['threw', /^RangeError: no \(at .*mine.mjs:3:\d+\)+$/, "throw new RangeError('no')"],
    'throws a screenful': [
      'threw',
      /^one two \[2J three \(at /,
      "throw new Error('one\\n\\ttwo\\x1b[2J\\r\\n three')",
    ],
    'throws nothing': ['threw', /^It threw undefined, which is no Error$/, 'throw undefined'],
    'throws something untold': [
      'threw',
      /cannot be told/,
      "throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })",
    ],
    'throws an object': ['threw', /^It threw { code: 5 }, which is no Error$/, 'throw { code: 5 }'],
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

/** What one of our assignors makes of it. */
function standInResult(groupId: string) {
  return assignDirectly({ ...ownProblem(groupId), assignor: 'highly_available' });
}

const ALL = [{ subtopologyId: '0', partitions: [0, 1] }];
const ALL_TO_FIRST = {
  members: [
    { active: ALL, standby: [] },
    { active: [], standby: ALL },
  ],
  unassigned: [],
};

describe("what assignors of one's own do wrong", () => {
  const stage = new OwnAssignorStage();

  afterEach(() => stage.close());

  it('ends in an assignment of ours, and the next group has it again (OFF-6)', () =>
    inTemporaryFolder(async (folder) => {
      // Who hangs does so for a moment; everybody else has the time that a busy machine needs.
      const hurried = await stage.start(folder, BAD, { timeoutMs: 400 });
      const patient = await stage.start(folder, BAD, { timeoutMs: 10_000 });
      for (const [groupId, [fault, reason]] of Object.entries(MISDEEDS)) {
        const assign = fault === 'timeout' ? hurried : patient;
        // Every time after any rest.
        stage.nowMs += HOUR_MS;
        const { standIn, ...result } = await assign(groupId);
        expect(standIn, groupId).to.include({
          assignor: 'highly_available',
          insteadOf: 'mine',
          fault,
        } satisfies Partial<StandIn>);
        expect(standIn?.reason, groupId).to.match(reason);
        expect(listResult(ownProblem(groupId), result), groupId).to.deep.equal(
          standInResult(groupId),
        );
        const { standIn: none, ...good } = await assign('good');
        expect([none, listResult(ownProblem('good'), good)], `after ${groupId}`).to.deep.equal([
          undefined,
          ALL_TO_FIRST,
        ]);
      }
    })).timeout(60_000);
});
