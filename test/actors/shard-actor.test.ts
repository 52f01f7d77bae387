import { expect } from 'chai';
import { TURN_MS_MAX } from '../../actors/turns.ts';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import type { AssignmentFigures } from '../../machines/model/look-back.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { assignDirectly } from '../support/assignment.ts';
import { Harness, joinBeat, someClient } from '../support/harness.ts';
import { acknowledge, allFour, harnessOnFaultyLog } from '../support/harness-on-faulty-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { steadyBeat } from '../support/steady-beat.ts';

describe('ShardActor', () => {
  it('answers a join with its first tasks: the answer waits for the run (OFF-8, E1)', async () => {
    const { made } = await harnessOnFaultyLog();
    const answer = await made.beat(joinBeat('g', 'A'));
    expect(answer.error).to.equal('NONE');
    expect(answer.memberEpoch).to.equal(2);
    expect(answer.activeTasks).to.deep.equal(allFour);
    expect(made.states.at(-1)).to.deep.equal(['g', 'Stable']);
  });

  it('an answer does not leave before its records are durable (BA-1)', async () => {
    const { made, log } = await harnessOnFaultyLog();
    log.hold();
    let answered = false;
    const answer = made.router.heartbeat(joinBeat('g', 'A'), {
      clientId: 'c',
      clientHost: '/1',
      apiVersion: 1,
    });
    void answer.then(() => {
      answered = true;
    });
    await made.clock.settle();
    expect(answered).to.equal(false);
    log.release();
    await made.clock.settle();
    expect(answered).to.equal(true);
  });

  it('a describe shows what is committed, not what is on its way (BA-4)', async () => {
    const { made, log } = await harnessOnFaultyLog();
    await made.beat(joinBeat('g', 'A'));
    log.hold();
    const joining = made.router.heartbeat(joinBeat('g', 'B'), {
      clientId: 'c',
      clientHost: '/1',
      apiVersion: 1,
    });
    await made.clock.settle();
    const [shown] = await made.soon(made.router.describe(['g']));
    expect(shown?.members.map((member) => member.memberId)).to.deep.equal(['A']);
    log.release();
    await made.soon(joining);
    const [after] = await made.soon(made.router.describe(['g']));
    expect(after?.members.map((member) => member.memberId)).to.deep.equal(['A', 'B']);
  });

  it('an idle heartbeat does not wait for the joins of other groups, though they came first', async () => {
    let passedMs = 0;
    const clock = new (class extends ManualClock {
      override monotonicMs(): number {
        passedMs += TURN_MS_MAX.short;
        return passedMs;
      }
    })();
    const { made } = await harnessOnFaultyLog({ shardCount: 1, clock });
    const { memberEpoch } = await made.beat(joinBeat('calm', 'A'));
    const before = made.assignor.runs;
    const joins = Array.from({ length: 20 }, (_, nth) =>
      made.router.heartbeat(joinBeat(`g${nth}`, 'A'), someClient),
    );
    const beat = made.router.heartbeat(steadyBeat('calm', 'A', memberEpoch), someClient);
    const runs = beat.then(() => made.assignor.runs - before);
    expect(await made.soon(runs)).to.be.at.most(1);
    await made.soon(Promise.all(joins));
    expect(made.assignor.runs - before).to.equal(20);
  });

  it('a heartbeat is not taken before what came earlier of its own group', async () => {
    const { made } = await harnessOnFaultyLog({ shardCount: 1 });
    const { memberEpoch } = await made.beat(joinBeat('g', 'A'));
    const leave = { ...steadyBeat('g', 'A', -1) };
    const [left, beat] = await made.soon(
      Promise.all([
        made.router.heartbeat(leave, someClient),
        made.router.heartbeat(steadyBeat('g', 'A', memberEpoch), someClient),
      ]),
    );
    expect([left.error, beat.error]).to.deep.equal(['NONE', 'UNKNOWN_MEMBER_ID']);
  });

  it('all that a turn decides in a shard goes to its log together', async () => {
    const { made, log } = await harnessOnFaultyLog({ shardCount: 1 });
    made.assignor.hold();
    const before = log.called;
    for (let nth = 0; nth < 50; nth++) {
      void made.router.heartbeat(joinBeat(`g${nth}`, 'A'), someClient);
    }
    await made.clock.settle();
    expect(log.called - before).to.equal(1);
  });

  it('a target does not wait for its reasons, and the journal tells it when they are there', async () => {
    const { made } = await harnessOnFaultyLog();
    const figures = { moved: 1 } as AssignmentFigures;
    const reasons = { ofActives: () => () => undefined, ofStandbys: () => () => undefined };
    let tell = () => {};
    made.assignor.lookBack = new Promise((resolve) => {
      tell = () => resolve({ figures, reasons });
    });
    const answer = await made.beat(joinBeat('g', 'A'));
    expect(answer.activeTasks).to.deep.equal(allFour);
    const toldOf = () =>
      made.journal.flatMap(({ because }) => because).filter((line) => line.startsWith('Target'));
    expect(toldOf()).to.deep.equal([]);
    tell();
    await made.clock.settle();
    expect(toldOf()).to.deep.equal(['Target of epoch 2: 0_0, 0_1, 0_2, 0_3 go to A']);
    expect(made.router.view('g')?.soft.targetFigures).to.equal(figures);
    made.assignor.lookBack = undefined;
    await made.beat(joinBeat('g', 'B'));
    expect(made.router.view('g')?.soft.targetFigures).to.equal(undefined);
  });

  it('an idle heartbeat of another group does not wait for a write on its way', async () => {
    const { made, log } = await harnessOnFaultyLog({ shardCount: 1 });
    const first = await made.beat(joinBeat('one', 'A'));
    await made.beat(joinBeat('two', 'B'));
    log.hold();
    void made.router.heartbeat(joinBeat('two', 'C'), {
      clientId: 'c',
      clientHost: '/1',
      apiVersion: 1,
    });
    await made.clock.settle();
    const idle = await made.beat(acknowledge('one', 'A', first));
    expect(idle.error).to.equal('NONE');
    log.release();
    await made.clock.settle();
  });

  it('a group that is no more is forgotten by the assignor, one without members is not (GS-4)', async () => {
    const { made, log } = await harnessOnFaultyLog();
    const { memberEpoch } = await made.beat(joinBeat('g', 'A'));
    await made.beat({ ...steadyBeat('g', 'A', memberEpoch), memberEpoch: -1 });
    expect(made.assignor.forgotten).to.deep.equal([]);
    log.failAppend(log.called + 1);
    await made.soon(made.router.delete(['g']));
    expect(made.assignor.forgotten).to.deep.equal([]);
    await made.soon(made.router.delete(['g']));
    expect(made.assignor.forgotten).to.deep.equal(['g']);
  });

  it('a session that runs out removes the member, a heartbeat in time keeps it (FENCE-1, TMR-1)', async () => {
    const { made } = await harnessOnFaultyLog();
    const answer = await made.beat(joinBeat('g', 'A'));
    await made.clock.pass(40_000);
    expect((await made.beat(acknowledge('g', 'A', answer))).error).to.equal('NONE');
    await made.clock.pass(40_000);
    expect((await made.beat(steadyBeat('g', 'A', answer.memberEpoch))).error).to.equal('NONE');
    await made.clock.pass(46_000);
    expect((await made.beat(steadyBeat('g', 'A', answer.memberEpoch))).error).to.equal(
      'UNKNOWN_MEMBER_ID',
    );
    expect(made.router.view('g')?.group.state).to.equal('Empty');
  });

  it('a member that keeps a task past its rebalance timeout is removed, heard of or not (REC-11, E13)', async () => {
    const { made } = await harnessOnFaultyLog();
    const first = await made.beat(joinBeat('g', 'A'));
    await made.beat(acknowledge('g', 'A', first));
    const { memberEpoch } = await made.beat(joinBeat('g', 'B'));
    const told = await made.beat(steadyBeat('g', 'A', first.memberEpoch));
    expect(told.activeTasks).to.have.deep.members([{ subtopologyId: '0', partitions: [0, 1] }]);
    for (const passedMs of [30_000, 29_000]) {
      await made.clock.pass(passedMs);
      expect((await made.beat(steadyBeat('g', 'A', told.memberEpoch))).error).to.equal('NONE');
      expect((await made.beat(steadyBeat('g', 'B', memberEpoch))).error).to.equal('NONE');
    }
    await made.clock.pass(2_000);
    expect((await made.beat(steadyBeat('g', 'A', told.memberEpoch))).error).to.equal(
      'UNKNOWN_MEMBER_ID',
    );
    expect(made.journal.map(({ cause }) => cause)).to.include('rebalance timed out');
    const { activeTasks } = await made.beat(steadyBeat('g', 'B', memberEpoch));
    expect(activeTasks).to.deep.equal(allFour);
  });

  it('a member that is heard of keeps its place, and nobody else is made a member (TMR-1)', async () => {
    const { made } = await harnessOnFaultyLog();
    const { sessionTimeoutMs } = made.settings;
    await made.beat(joinBeat('g', 'A'));
    for (let round = 0; round < 3; round++) {
      await made.clock.pass(sessionTimeoutMs - 1);
      for (const memberId of ['A', 'B']) made.router.heard('g', memberId);
      made.router.heard('h', 'A');
      await made.clock.settle();
    }
    expect([...(made.router.view('g')?.group.members.keys() ?? [])]).to.deep.equal(['A']);
    expect(made.router.view('h')).to.equal(undefined);
    await made.clock.pass(2 * sessionTimeoutMs);
    expect(made.router.view('g')?.group.members.size).to.equal(0);
  });

  it('timers run again after a restart (LOAD-1)', async () => {
    const { made, memory } = await harnessOnFaultyLog();
    await made.beat(joinBeat('g', 'A'));
    const again = await new Harness({ recordLog: memory, compute: assignDirectly }).start();
    again.topics.set('in', 4);
    await again.clock.pass(44_000);
    expect(again.router.view('g')?.group.state).to.equal('Stable');
    await again.clock.pass(2000);
    expect(again.router.view('g')?.group.state).to.equal('Empty');
  });

  it('a full mailbox is answered with an error that clients retry', async () => {
    const { made } = await harnessOnFaultyLog({ mailboxMax: 2, shardCount: 1 });
    const client = { clientId: 'c', clientHost: '/1', apiVersion: 1 };
    const answers = ['A', 'B', 'C'].map((member) =>
      made.router.heartbeat(joinBeat('g', member), client),
    );
    const third = await made.soon(answers[2] as Promise<HeartbeatAnswer>);
    expect(third.error).to.equal('COORDINATOR_LOAD_IN_PROGRESS');
    await made.soon(Promise.all(answers));
  });

  it('before the load 14, after the close 16 (BA-11)', async () => {
    const made = new Harness({ recordLog: new MemoryLog(), compute: assignDirectly });
    expect((await made.beat(joinBeat('g', 'A'))).error).to.equal('COORDINATOR_LOAD_IN_PROGRESS');
    await made.start();
    const closing = made.shards.close(1000);
    await made.clock.pass(10);
    await closing;
    expect((await made.beat(joinBeat('g', 'A'))).error).to.equal('NOT_COORDINATOR');
  });

  it('the journal tells what was decided and why', async () => {
    const { made } = await harnessOnFaultyLog();
    await made.beat(joinBeat('g', 'A'));
    expect(made.journal.length).to.be.greaterThan(0);
    for (const entry of made.journal) expect(entry.because, entry.cause).to.not.deep.equal([]);
  });
});
