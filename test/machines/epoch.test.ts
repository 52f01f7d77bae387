import { expect } from 'chai';
import { judgeEpoch, ownsOnlyAssigned, refuseUnknownState } from '../../machines/decide/epoch.ts';
import { newMember } from '../../machines/model/empty.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import { readTasks } from '../support/task-notation.ts';

const known = { memberEpoch: 5, previousMemberEpoch: 3 };

describe('judgeEpoch()', () => {
  it('takes the present epoch, whatever is owned (EPO-1)', () => {
    expect(judgeEpoch(known, 5, false)).to.equal('current');
  });
  it('fences a member that is ahead (EPO-2)', () => {
    expect(judgeEpoch(known, 6, true)).to.equal('fenced');
  });
  it('hears the previous epoch of a member that owns only what it was given (EPO-3)', () => {
    expect(judgeEpoch(known, 3, true)).to.equal('replyLost');
  });
  it('fences the previous epoch of a member that owns more, or does not say (EPO-3)', () => {
    expect(judgeEpoch(known, 3, false)).to.equal('fenced');
  });
  it('fences any other older epoch, also between the two (EPO-4)', () => {
    expect(judgeEpoch(known, 4, true)).to.equal('fenced');
    expect(judgeEpoch(known, 2, true)).to.equal('fenced');
  });
  it('fences every positive epoch of a member on a break (STAT-6)', () => {
    expect(judgeEpoch({ memberEpoch: -2, previousMemberEpoch: 3 }, 3, true)).to.equal('fenced');
  });
});

describe('ownsOnlyAssigned()', () => {
  const assigned = {
    active: [{ subtopologyId: '0', partitions: [0, 1], assignmentEpochs: [2, 2] }],
    standby: readTasks('0:[2]'),
    warmup: [],
  };
  const member = { ...newMember('A'), assigned };

  it('compares role by role (EPO-3)', () => {
    const own = { active: readTasks('0:[0]'), standby: readTasks('0:[2]'), warmup: [] };
    expect(ownsOnlyAssigned(member, own)).to.equal(true);
    expect(ownsOnlyAssigned(member, { ...own, active: readTasks('0:[2]') })).to.equal(false);
    expect(ownsOnlyAssigned(member, { ...own, warmup: readTasks('0:[2]') })).to.equal(false);
  });
  it('takes silence for no proof (EPO-3)', () => {
    expect(ownsOnlyAssigned(member, undefined)).to.equal(false);
  });
});

describe('refuseUnknownState()', () => {
  const member = { ...newMember('A'), state: 'unknown' as const };

  it('lets a member in a state of a newer version on only when it owns nothing (REC-12)', () => {
    expect(() => refuseUnknownState(member, NO_TASKS_BY_ROLE)).not.to.throw();
    expect(() => refuseUnknownState(member, undefined)).to.throw(Refusal);
    const own = { ...NO_TASKS_BY_ROLE, active: readTasks('0:[0]') };
    expect(() => refuseUnknownState(member, own)).to.throw(Refusal);
  });
});
