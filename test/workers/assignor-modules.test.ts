import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GroupResult } from '../../machines/model/assignment.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import { AssignorModuleError } from '../../workers/assignor-modules.ts';
import { listResult } from '../../workers/problem.ts';
import { assignmentMember, tasks } from '../support/assignment.ts';
import { found, gone } from '../support/found.ts';
import { OwnAssignorStage, ownProblem } from '../support/own-assignor-stage.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const GOOD_AND_HANGING = `
export default ({ groupId, tasks, members: [first, second] }) => {
  if (groupId === 'runs for ever') for (;;);
  const all = tasks.map(({ taskId }) => taskId);
  return { [first.memberId]: { active: all }, [second.memberId]: { standby: all } };
};`;

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

describe("assignors of one's own", function () {
  this.timeout(60_000);
  const stage = new OwnAssignorStage();

  afterEach(() => stage.close());

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
      stage.said.map(([text, fields]) => {
        const { groupId, fault } = fields as Record<string, unknown>;
        return [text, groupId, fault];
      });

    it('they rest for a group after three in a row, longer each time, and warn once for each change', () =>
      inTemporaryFolder(async (folder) => {
        const assign = await stage.start(folder, SOMETIMES_ILL);
        const faults = asker(assign);
        expect(await faults('ill', 'well', 'ill', 'ill', 'ill', 'well')).to.deep.equal([
          ...['threw', undefined, 'threw', 'threw'],
          ...['resting', undefined],
        ]);
        stage.nowMs += 9_999;
        expect(await faults('ill')).to.deep.equal(['resting']);
        stage.nowMs += 1;
        expect(await faults('ill')).to.deep.equal(['threw']);
        stage.nowMs += 19_999;
        expect((await assign('ill')).standIn?.reason).to.match(
          /^It rests until 1970-01-01T00:00:30Z, and is asked at the next assignment after that; 4 faults in a row, the last: ill \(at /,
        );
        await writeFile(join(folder, MENDED), '');
        stage.nowMs += 1;
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
        const faults = asker(await stage.start(folder, SOMETIMES_ILL));
        await writeFile(join(folder, 'mine.mjs'), 'export default (');
        expect(await faults('well', 'ill', 'well', 'a', 'b', 'well')).to.deep.equal([
          ...[undefined, 'threw'],
          ...['load', 'load', 'load', 'resting'],
        ]);
        await writeFile(join(folder, 'mine.mjs'), SOMETIMES_ILL);
        stage.nowMs += 10_000;
        expect(await faults('well', 'a')).to.deep.equal([undefined, undefined]);
      }));
  });

  it('keep nobody waiting: groups with ours go on, others wait for their turn in bounds', () =>
    inTemporaryFolder(async (folder) => {
      const assign = await stage.start(folder, GOOD_AND_HANGING, { timeoutMs: 1_200, turnMs: 600 });
      const order: string[] = [];
      const note = async (groupId: string) => {
        const { standIn } = await assign(groupId);
        order.push(`${groupId}: ${standIn?.fault ?? 'good'}`);
      };
      // The thread of the pool runs.
      await assign('ours', { assignor: 'sticky' });
      const hanging = ['runs for ever', 'good', 'good'].map(note);
      for (let run = 0; run < 5; run++) await assign('ours', { assignor: 'sticky' });
      order.push('five runs of ours');
      await Promise.all(hanging);
      expect(order).to.deep.equal([
        'five runs of ours',
        ...['good: busy', 'good: busy', 'runs for ever: timeout'],
      ]);
    }));

  it('take no room from groups with ours; one more than may wait for them is assigned at once (OFF-6)', () =>
    inTemporaryFolder(async (folder) => {
      const bounds = { timeoutMs: 900, turnMs: 30_000, waitingMax: 4, queueMax: 1 };
      const assign = await stage.start(folder, GOOD_AND_HANGING, bounds);
      const order: string[] = [];
      const note = async (groupId: string, overrides = {}) => {
        const { standIn } = await assign(groupId, overrides);
        order.push(`${groupId}: ${standIn?.reason ?? 'good'}`);
      };
      await assign('ours', { assignor: 'sticky' });
      const waiting = ['runs for ever', ...Array(4).fill('good')].map((each) => note(each));
      const further = Array.from({ length: 2 }, () => note('one more'));
      const ours = Array.from({ length: 2 }, () => note('ours', { assignor: 'sticky' }));
      await Promise.all([...further, ...ours]);
      expect(order.splice(0).toSorted()).to.deep.equal([
        ...Array(2).fill('one more: As many as 4 groups wait for it already'),
        ...Array(2).fill('ours: good'),
      ]);
      await Promise.all(waiting);
      expect(order).to.deep.equal([
        'runs for ever: It gave no answer within 900 ms',
        ...Array(4).fill('good: good'),
      ]);
    }));

  it('have no motives of ours put into their mouths: it is said what was to be placed, and that they placed it', () =>
    inTemporaryFolder(async (folder) => {
      const assign = await stage.start(
        folder,
        `
        export default ({ groupId, tasks, members: [first, second] }) => {
          if (groupId === 'ill') throw new Error('ill');
          const all = tasks.map(({ taskId }) => taskId);
          return { [first.memberId]: { standby: all }, [second.memberId]: { active: all } };
        };`,
      );
      const reasonsOf = async (groupId: string, [a, b]: Readonly<[TaskList?, TaskList?]> = []) => {
        const members = [
          assignmentMember('a', { processId: 'a', active: a ?? [] }),
          assignmentMember('b', { processId: 'b', standby: b ?? [] }),
        ];
        const { lookBack } = await assign(groupId, { members });
        const reasons = (await lookBack)?.reasons;
        const [active, standbyOfA] = [reasons?.ofActives('0')(0), reasons?.ofStandbys('a', '0')(0)];
        return [active, standbyOfA];
      };
      const standbyPlaced = { leaving: 'tooFewCopies', landing: 'assignor' };
      expect(await reasonsOf('new')).to.deep.equal([
        { leaving: 'unheard', landing: 'assignor' },
        standbyPlaced,
      ]);
      const both = tasks({ 0: [0, 1] });
      expect(await reasonsOf('above share', [both])).to.deep.equal([
        { leaving: 'assignor', landing: 'assignor' },
        standbyPlaced,
      ]);
      expect(await reasonsOf('standby promoted', [both, both])).to.deep.equal([
        { leaving: 'assignor', landing: 'assignor' },
        { leaving: 'copyPromoted', landing: 'assignor' },
      ]);
      expect(await reasonsOf('ill')).to.deep.equal([
        { leaving: 'unheard', landing: 'belowShare' },
        undefined,
      ]);
    }));

  it('are told of when they end between two questions, and begin anew; more of that within a minute in one line', () =>
    inTemporaryFolder(async (folder) => {
      const assign = await stage.start(
        folder,
        `
        export default ({ groupId, tasks, members: [first, second] }) => {
          if (groupId === 'late') setTimeout(() => { throw new Error('later'); }, 10);
          if (groupId === 'killed') setTimeout(() => process.kill(process.pid, 'SIGKILL'), 10);
          const all = tasks.map(({ taskId }) => taskId);
          return { [first.memberId]: { active: all }, [second.memberId]: { standby: all } };
        };`,
      );
      const endAfter = async (groupId: string) => {
        const { length } = stage.idleEnds;
        expect((await assign(groupId)).standIn, groupId).to.equal(undefined);
        await found('the end', async () => (stage.idleEnds.length > length ? true : undefined));
      };
      await endAfter('late');
      await endAfter('killed');
      stage.nowMs += 60_000;
      await endAfter('killed');
      expect((await assign('good')).standIn).to.equal(undefined);
      expect(stage.idleEnds).to.deep.equal(Array(3).fill(['mine', 'ended']));
      const ENDED = 'Process of assignor module ended while nothing was asked of it';
      const told = stage.said.map(([text, fields]) => [
        text,
        { ...fields, reason: (fields as { reason: string }).reason.replace(/ \(at .*\)$/, '') },
      ]);
      const by = { assignor: 'mine', fault: 'ended' };
      expect(told).to.deep.equal([
        [ENDED, { ...by, reason: 'An error was left to itself: later', ends: 1 }],
        [ENDED, { ...by, reason: 'Its process ended with SIGKILL', ends: 2 }],
      ]);
    }));

  it('end with all that they have started', () =>
    inTemporaryFolder(async (folder) => {
      const hurried = await stage.start(folder, STARTER, { timeoutMs: 300 });
      const patient = await stage.start(folder, STARTER);
      for (const [groupId, fault, assign] of [
        ['runs a command', 'timeout', hurried],
        ['leaves one behind', 'ended', patient],
        ['leaves one behind, and eats memory', 'memory', patient],
      ] as const) {
        expect((await assign(groupId)).standIn?.fault, groupId).to.equal(fault);
        await gone(Number(await readFile(join(folder, groupId), 'utf8')));
      }
    }));

  it('are not asked where there is nothing to assign', () =>
    inTemporaryFolder(async (folder) => {
      const assign = await stage.start(
        folder,
        'export default () => { throw new Error("asked"); }',
      );
      const { standIn, ...result } = await assign('empty', { subtopologies: [] });
      const { unassigned } = listResult({ ...ownProblem('empty'), subtopologies: [] }, result);
      expect([standIn, unassigned]).to.deep.equal([undefined, []]);
    }));

  it('give up loading when that is told to stop, and leave nothing behind', () =>
    inTemporaryFolder(async (folder) => {
      await writeFile(
        join(folder, 'slow.mjs'),
        `import { writeFileSync } from 'node:fs';
        writeFileSync(new URL('pid', import.meta.url), String(process.pid));
        for (;;);`,
      );
      const stopping = new AbortController();
      const { signal } = stopping;
      const files = { slow: join(folder, 'slow.mjs') };
      const refused = rejectionOf(stage.open(files, { timeoutMs: 400, signal }));
      const pid = await found('the module to be loading', async () => {
        const text = await readFile(join(folder, 'pid'), 'utf8').catch(() => '');
        return text === '' ? undefined : Number(text);
      });
      stopping.abort();
      expect(await refused).to.equal(signal.reason);
      await gone(pid);
      expect(await rejectionOf(stage.open(files, { timeoutMs: 400, signal }))).to.equal(
        signal.reason,
      );
    }));

  it('are refused at the start, all that cannot be used in one message', () =>
    inTemporaryFolder(async (folder) => {
      const texts: Readonly<Record<string, string>> = {
        none: 'export const assign = () => {};',
        broken: '// One\nexport default );\n',
        throws: "throw new Error('at once');",
        exits: 'process.exit(3);',
        fine: 'export default () => ({});',
      };
      for (const [name, text] of Object.entries(texts)) {
        await writeFile(join(folder, `${name}.mjs`), text);
      }
      const files = [...Object.keys(texts), 'gone'].map((name) => [
        name,
        join(folder, `${name}.mjs`),
      ]);
      const open = stage.open(Object.fromEntries(files), { timeoutMs: 400 });
      const error = await rejectionOf(open);
      expect(error).to.be.instanceOf(AssignorModuleError);
      const lines = (error as Error).message.replaceAll(folder, '').split('\n');
      const [none, broken, throws, exits, gone] = lines;
      expect(lines).to.have.length(5);
      expect(none).to.equal(
        'Cannot use assignor module "none" (/none.mjs): Its default export is of type undefined, wanted a function',
      );
      expect(broken).to.match(
        /^Cannot use assignor module "broken" \(\/broken.mjs\): SyntaxError: .* \(at (file:\/\/)?\/broken.mjs:2\)$/,
      );
      expect(throws).to.match(/"throws" \(\/throws.mjs\): at once/);
      expect(exits).to.match(/"exits" \(\/exits.mjs\): Its process ended with code 3$/);
      expect(gone).to.equal('Cannot use assignor module "gone" (/gone.mjs): There is no such file');
    }));
});
