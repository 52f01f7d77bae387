import { expect } from 'chai';
import { isInHandover, tellTasks } from '../../machines/decide/answer.ts';
import { newMember } from '../../machines/model/empty.ts';
import { ownedSince } from '../../machines/model/task-list.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import { readTasks } from '../support/task-notation.ts';

const assigned = { active: ownedSince(readTasks('0:[0]'), 2), standby: [], warmup: [] };
const exactly: TasksByRole = { active: readTasks('0:[0]'), standby: [], warmup: [] };
const less: TasksByRole = { active: [], standby: [], warmup: [] };
const idle = {
  joined: false,
  tasksChanged: false,
  assigned,
  said: undefined,
  acknowledged: true,
  repeats: true,
};

/** Whether the lists are sent, and whether the member knows its tasks afterwards. */
function told(change: Partial<Parameters<typeof tellTasks>[0]>): readonly [boolean, boolean] {
  const { lists, acknowledged } = tellTasks({ ...idle, ...change });
  return [lists.activeTasks !== null, acknowledged];
}

describe('tellTasks()', () => {
  it('says nothing to a member that knows its tasks (RSP-6)', () => {
    expect(told({})).to.deep.equal([false, true]);
    expect(told({ said: exactly })).to.deep.equal([false, true]);
  });
  it('answers a join with lists, a repeated one too (RSP-6a)', () => {
    expect(told({ joined: true, said: less })).to.deep.equal([true, false]);
  });
  it('tells what changed, and waits for the report (RSP-6b)', () => {
    expect(told({ tasksChanged: true })).to.deep.equal([true, false]);
  });
  it('is acknowledged at once by a request that already reports the new lists (RSP-6)', () => {
    expect(told({ tasksChanged: true, said: exactly })).to.deep.equal([true, true]);
  });
  it('repeats to a member that reports something else (RSP-6c)', () => {
    expect(told({ said: less })).to.deep.equal([true, false]);
  });
  it('repeats to a silent member until it reported (RSP-6d)', () => {
    expect(told({ acknowledged: false })).to.deep.equal([true, false]);
    expect(told({ acknowledged: false, said: exactly })).to.deep.equal([false, true]);
  });
  it('sends once only where the profile says so (RSP-5, X11)', () => {
    expect(told({ acknowledged: false, repeats: false })[0]).to.equal(false);
    expect(told({ said: less, repeats: false })[0]).to.equal(false);
    expect(told({ tasksChanged: true, repeats: false })[0]).to.equal(true);
  });
  it('sends the three lists without epochs (RSP-4)', () => {
    expect(tellTasks({ ...idle, joined: true }).lists).to.deep.equal({
      activeTasks: [{ subtopologyId: '0', partitions: [0] }],
      standbyTasks: [],
      warmupTasks: [],
    });
  });
});

describe('isInHandover()', () => {
  const member = newMember('A');
  const waiting = { ...member, state: 'unreleasedTasks' as const };

  it('is whoever waits, owes, or has a run in flight (RSP-8)', () => {
    expect(isInHandover(waiting, [], undefined, false)).to.equal(true);
    expect(isInHandover({ ...member, state: 'unrevokedTasks' }, [], undefined, false)).to.equal(
      true,
    );
    expect(isInHandover(member, [], 'runInFlight', false)).to.equal(true);
    expect(isInHandover(member, [], undefined, true)).to.equal(true);
    expect(isInHandover(member, [], undefined, false)).to.equal(false);
    expect(isInHandover(member, [], 'interval', false)).to.equal(false);
  });
  it('is nobody with a status that makes clients give up (RSP-8)', () => {
    const status = (name: 'MISSING_SOURCE_TOPICS' | 'ASSIGNMENT_DELAYED') => [
      { status: name, detail: '' },
    ];
    expect(isInHandover(waiting, status('MISSING_SOURCE_TOPICS'), undefined, false)).to.equal(
      false,
    );
    expect(isInHandover(member, status('MISSING_SOURCE_TOPICS'), undefined, true)).to.equal(false);
    expect(isInHandover(waiting, status('ASSIGNMENT_DELAYED'), undefined, false)).to.equal(true);
  });
});
