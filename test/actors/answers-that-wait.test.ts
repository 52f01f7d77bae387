import { expect } from 'chai';
import { joinBeat, someClient } from '../support/harness.ts';
import { allFour, harnessOnFaultyLog } from '../support/harness-on-faulty-log.ts';
import { steadyBeat } from '../support/steady-beat.ts';

describe('ShardActor: answers that wait for a run', () => {
  it('an answer waits for its run only so long, then tells of the delay (OFF-8)', async () => {
    const { made } = await harnessOnFaultyLog();
    made.assignor.hold();
    const pending = made.router.heartbeat(joinBeat('g', 'A'), {
      clientId: 'c',
      clientHost: '/1',
      apiVersion: 1,
    });
    await made.clock.pass(120);
    const answer = await made.soon(pending);
    expect(answer.statuses.map((each) => each.status)).to.deep.equal(['ASSIGNMENT_DELAYED']);
    expect(answer.activeTasks).to.deep.equal([]);
    made.assignor.release();
    await made.clock.settle();
    const next = await made.beat(steadyBeat('g', 'A', answer.memberEpoch));
    expect(next.activeTasks).to.deep.equal(allFour);
  });

  it('a run that fails leaves the old target and is tried again at a later heartbeat (OFF-6)', async () => {
    const { made } = await harnessOnFaultyLog({ settings: { assignmentIntervalMs: 1000 } });
    made.assignor.failNext(new Error('the thread ended'));
    const answer = await made.beat(joinBeat('g', 'A'));
    expect([answer.error, answer.statuses.map((each) => each.status)]).to.deep.equal([
      'NONE',
      ['ASSIGNMENT_DELAYED'],
    ]);
    const tooSoon = await made.beat(steadyBeat('g', 'A', answer.memberEpoch));
    expect(tooSoon.statuses.map((each) => each.status)).to.deep.equal(['ASSIGNMENT_DELAYED']);
    expect(made.assignor.runs).to.equal(1);
    await made.clock.pass(1100);
    const later = await made.beat(steadyBeat('g', 'A', tooSoon.memberEpoch));
    expect(later.activeTasks).to.deep.equal(allFour);
  });

  it('a target that the log would not take is a failed run: its group is told, and there is another (OFF-6)', async () => {
    const { made, log } = await harnessOnFaultyLog({ settings: { assignmentIntervalMs: 1000 } });
    log.refuseNextTarget();
    const answer = await made.beat(joinBeat('g', 'A'));
    expect([answer.error, answer.statuses.map((each) => each.status)]).to.deep.equal([
      'NONE',
      ['ASSIGNMENT_DELAYED'],
    ]);
    expect(made.journal.at(-1)?.because[0]).to.equal(
      'Computing the target of epoch 2 failed: A batch of 9 bytes, at most 8',
    );
    await made.clock.pass(1100);
    const later = await made.beat(steadyBeat('g', 'A', answer.memberEpoch));
    expect(later.activeTasks).to.deep.equal(allFour);
  });

  it('a member that asks again while its answer waits: both requests get the answer (OFF-8)', async () => {
    const { made } = await harnessOnFaultyLog();
    made.assignor.hold();
    const client = { clientId: 'c', clientHost: '/1', apiVersion: 1 };
    const first = made.router.heartbeat(joinBeat('g', 'A'), client);
    await made.clock.settle();
    const second = made.router.heartbeat(joinBeat('g', 'A'), client);
    await made.clock.settle();
    made.assignor.release();
    const [one, two] = await made.soon(Promise.all([first, second]));
    expect(two.activeTasks).to.deep.equal(allFour);
    expect(one).to.deep.equal(two);
  });

  it('a member that leaves while its answer waits is told so (OFF-8)', async () => {
    const { made } = await harnessOnFaultyLog();
    await made.beat(joinBeat('g', 'A'));
    made.assignor.hold();
    const client = { clientId: 'c', clientHost: '/1', apiVersion: 1 };
    const joining = made.router.heartbeat(joinBeat('g', 'B'), client);
    await made.clock.settle();
    const left = await made.beat(steadyBeat('g', 'B', -1));
    expect([left.error, left.memberEpoch]).to.deep.equal(['NONE', -1]);
    expect((await made.soon(joining)).error).to.equal('UNKNOWN_MEMBER_ID');
    made.assignor.release();
    await made.clock.settle();
  });

  it('answers who waited for an older run when another run is waited for (OFF-8)', async () => {
    const { made } = await harnessOnFaultyLog({ coordinator: { assignorAnswerWaitMs: 10_000 } });
    made.assignor.hold();
    const answered: string[] = [];
    const ask = async (memberId: string) => {
      void made.router.heartbeat(joinBeat('g', memberId), someClient).then(() => {
        answered.push(memberId);
      });
      await made.clock.settle();
    };
    await ask('A');
    made.topics.set('in', 0);
    await ask('B');
    made.topics.set('in', 4);
    await ask('C');
    made.assignor.release();
    await made.clock.settle();
    expect(answered.sort()).to.deep.equal(['A', 'B', 'C']);
  });

  it('the result of an earlier life of the group takes nobody his wait (OFF-2, OFF-8)', async () => {
    const { made } = await harnessOnFaultyLog();
    made.assignor.hold();
    const earlier = made.router.heartbeat(joinBeat('g', 'A'), someClient);
    await made.clock.settle();
    await made.beat(steadyBeat('g', 'A', -1));
    expect((await earlier).error).to.equal('UNKNOWN_MEMBER_ID');
    await made.soon(made.router.delete(['g']));
    const answer = made.router.heartbeat(joinBeat('g', 'Z'), someClient);
    await made.clock.settle();
    made.assignor.release();
    const { statuses, activeTasks } = await made.soon(answer);
    expect([statuses, activeTasks]).to.deep.equal([[], allFour]);
  });
});
