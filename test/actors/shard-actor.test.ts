import { expect } from 'chai';
import { TURN_MS_MAX } from '../../actors/turns.ts';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import type { AssignmentFigures } from '../../machines/model/look-back.ts';
import { LevelLog } from '../../src/store/level-log.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { assignDirectly } from '../support/assignment.ts';
import { FaultyLog } from '../support/faulty-log.ts';
import { Harness, type HarnessOptions, joinBeat, someClient } from '../support/harness.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import { info, subtopology, topology } from '../support/topology-samples.ts';

async function harness(options: Partial<HarnessOptions> = {}) {
  const memory = new MemoryLog();
  const log = new FaultyLog(memory);
  const made = await new Harness({ recordLog: log, compute: assignDirectly, ...options }).start();
  made.topics.set('in', 4);
  return { made, log, memory };
}

/** A member confirms the tasks it was just given. */
function acknowledge(groupId: string, memberId: string, answer: HeartbeatAnswer) {
  return {
    ...steadyBeat(groupId, memberId, answer.memberEpoch),
    activeTasks: answer.activeTasks ?? [],
    standbyTasks: answer.standbyTasks ?? [],
    warmupTasks: answer.warmupTasks ?? [],
  };
}

const allFour = [{ subtopologyId: '0', partitions: [0, 1, 2, 3] }];

describe('ShardActor', () => {
  it('answers a join with its first tasks: the answer waits for the run (OFF-8, E1)', async () => {
    const { made } = await harness();
    const answer = await made.beat(joinBeat('g', 'A'));
    expect(answer.error).to.equal('NONE');
    expect(answer.memberEpoch).to.equal(2);
    expect(answer.activeTasks).to.deep.equal(allFour);
    expect(made.states.at(-1)).to.deep.equal(['g', 'Stable']);
  });

  it('an answer does not leave before its records are durable (BA-1)', async () => {
    const { made, log } = await harness();
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
    const { made, log } = await harness();
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
    const { made } = await harness({ shardCount: 1, clock });
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
    const { made } = await harness({ shardCount: 1 });
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
    const { made, log } = await harness({ shardCount: 1 });
    made.assignor.hold();
    const before = log.called;
    for (let nth = 0; nth < 50; nth++) {
      void made.router.heartbeat(joinBeat(`g${nth}`, 'A'), someClient);
    }
    await made.clock.settle();
    expect(log.called - before).to.equal(1);
  });

  it('a target does not wait for its reasons, and the journal tells it when they are there', async () => {
    const { made } = await harness();
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
    const { made, log } = await harness({ shardCount: 1 });
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

  it('a lost append takes back records and memory, and answers with an error to retry (BA-3, ORD-2)', async () => {
    const { made, log } = await harness();
    const first = await made.beat(joinBeat('g', 'A'));
    await made.beat(acknowledge('g', 'A', first));
    const before = made.router.view('g');
    log.failAppend(log.called + 1, 'KAFKA_STORAGE_ERROR');
    const refused = await made.beat(joinBeat('g', 'B'));
    expect(refused.error).to.equal('NOT_COORDINATOR');
    const after = made.router.view('g');
    expect(after?.group).to.equal(before?.group);
    // Its topics are looked at anew, and runs of before are not waited for.
    const { incarnation, refreshDue } = after?.soft ?? {};
    expect({ ...before?.soft, incarnation, refreshDue }).to.deep.equal(after?.soft);
    expect(incarnation).to.be.above(before?.soft.incarnation ?? 0);
    expect(refreshDue).to.equal(true);
    // The same join is taken up as if nothing had been.
    const again = await made.beat(joinBeat('g', 'B'));
    expect([again.error, again.memberEpoch]).to.deep.equal(['NONE', 3]);
  });

  it('a run whose end was lost with an append is not waited for (BA-3, OFF-1)', async () => {
    const { made, log } = await harness({ settings: { initialRebalanceDelayMs: 3000 } });
    const { memberEpoch } = await made.beat(joinBeat('g', 'A'));
    log.failAppend(log.called + 1);
    await made.clock.pass(3000);
    const next = await made.beat(steadyBeat('g', 'A', memberEpoch));
    expect([next.error, next.activeTasks]).to.deep.equal(['NONE', allFour]);
  });

  it('a run that was started in a lost append is not taken for a later one (BA-3, OFF-5)', async () => {
    const { made, log } = await harness();
    const { memberEpoch } = await made.beat(joinBeat('g', 'A'));
    made.assignor.hold();
    log.failAppend(log.called + 1);
    // Both joins raise the epoch by one and start a run, of which only the second counts.
    expect((await made.beat(joinBeat('g', 'B'))).error).to.equal('COORDINATOR_NOT_AVAILABLE');
    const joining = made.router.heartbeat(joinBeat('g', 'C'), someClient);
    await made.clock.settle();
    expect(made.assignor.runs).to.equal(3);
    made.assignor.release();
    await made.soon(joining);
    await made.beat(steadyBeat('g', 'A', memberEpoch));
    const targets = made.router.view('g')?.group.targets;
    expect([...(targets?.keys() ?? [])].sort()).to.deep.equal(['A', 'C']);
    expect(targets?.get('C')?.active).to.deep.equal([{ subtopologyId: '0', partitions: [2, 3] }]);
  });

  it('whichever append is lost, every answer given still holds after a restart (fault loop)', async () => {
    let faults = 0;
    for (let nth = 1; ; nth++) {
      const { made, log, memory } = await harness();
      log.failAppend(nth);
      const told = new Map<string, HeartbeatAnswer>();
      const beat = async (request: ReturnType<typeof steadyBeat>) => {
        const answer = await made.beat(request);
        if (answer.error !== 'NONE') return undefined;
        if (request.memberEpoch < 0) told.delete(request.memberId);
        else told.set(request.memberId, answer);
        return answer;
      };
      const a = await beat(joinBeat('g', 'A'));
      if (a !== undefined) await beat(acknowledge('g', 'A', a));
      await beat(joinBeat('g', 'B'));
      const a2 =
        told.get('A') && (await beat(steadyBeat('g', 'A', told.get('A')?.memberEpoch ?? 0)));
      if (a2 !== undefined) await beat(acknowledge('g', 'A', a2));
      await beat(joinBeat('g', 'C'));
      if (told.has('B')) await beat(steadyBeat('g', 'B', -1));
      const met = log.called >= nth;
      if (met) faults++;

      const again = await new Harness({ recordLog: memory, compute: assignDirectly }).start();
      const restored = again.router.view('g')?.group;
      for (const [memberId, answer] of told) {
        expect(
          restored?.members.get(memberId)?.memberEpoch,
          `${memberId} after fault ${nth}`,
        ).to.be.at.least(answer.memberEpoch);
      }
      expect(restored).to.deep.equal(made.router.view('g')?.group);
      if (!met) break;
    }
    expect(faults).to.be.greaterThan(5);
  });

  it('a session that runs out removes the member, a heartbeat in time keeps it (FENCE-1, TMR-1)', async () => {
    const { made } = await harness();
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

  it('a member that is heard of keeps its place, and nobody else is made a member (TMR-1)', async () => {
    const { made } = await harness();
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

  it('a removal that was not written is tried again a session later (TMR-2)', async () => {
    const { made, log } = await harness();
    await made.beat(joinBeat('g', 'A'));
    log.failAppend(log.called + 1);
    await made.clock.pass(46_000);
    expect(made.router.view('g')?.group.state).to.equal('Stable');
    await made.clock.pass(46_000);
    expect(made.router.view('g')?.group.state).to.equal('Empty');
  });

  it('a first target that was not written is computed by the next heartbeat (TMR-2, ASG-5)', async () => {
    const { made, log } = await harness({ settings: { initialRebalanceDelayMs: 3000 } });
    const { memberEpoch } = await made.beat(joinBeat('g', 'A'));
    log.failAppend(log.called + 1);
    await made.clock.pass(6100);
    expect(made.router.view('g')?.group.state).to.equal('Assigning');
    const answer = await made.beat(steadyBeat('g', 'A', memberEpoch));
    expect(answer.activeTasks).to.deep.equal(allFour);
  });

  it('topics are asked for when the records that want them are durable, before the answer leaves (C-2)', async () => {
    const { made, log } = await harness();
    const stateful = topology(
      subtopology('0', { sourceTopics: ['in'], stateChangelogTopics: [info('app-c')] }),
    );
    log.failAppend(log.called + 1);
    const lost = await made.beat(joinBeat('g', 'A', stateful));
    expect([lost.error, made.created]).to.deep.equal(['COORDINATOR_NOT_AVAILABLE', []]);

    log.hold();
    const createdByThen = made.router
      .heartbeat(joinBeat('g', 'A', stateful), someClient)
      .then(({ error }) => [error, made.created.flat().map(({ name }) => name)]);
    await made.clock.settle();
    expect(made.created).to.deep.equal([]);
    log.release();
    expect(await made.soon(createdByThen)).to.deep.equal(['NONE', ['app-c']]);
  });

  it('timers run again after a restart (LOAD-1)', async () => {
    const { made, memory } = await harness();
    await made.beat(joinBeat('g', 'A'));
    const again = await new Harness({ recordLog: memory, compute: assignDirectly }).start();
    again.topics.set('in', 4);
    await again.clock.pass(44_000);
    expect(again.router.view('g')?.group.state).to.equal('Stable');
    await again.clock.pass(2000);
    expect(again.router.view('g')?.group.state).to.equal('Empty');
  });

  it('an answer waits for its run only so long, then tells of the delay (OFF-8)', async () => {
    const { made } = await harness();
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
    const { made } = await harness({ settings: { assignmentIntervalMs: 1000 } });
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

  it('a member that asks again while its answer waits: both requests get the answer (OFF-8)', async () => {
    const { made } = await harness();
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
    const { made } = await harness();
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

  it('a full mailbox is answered with an error that clients retry', async () => {
    const { made } = await harness({ mailboxMax: 2, shardCount: 1 });
    const client = { clientId: 'c', clientHost: '/1', apiVersion: 1 };
    const answers = ['A', 'B', 'C'].map((member) =>
      made.router.heartbeat(joinBeat('g', member), client),
    );
    const third = await made.soon(answers[2] as Promise<HeartbeatAnswer>);
    expect(third.error).to.equal('COORDINATOR_LOAD_IN_PROGRESS');
    await made.soon(Promise.all(answers));
  });

  it('records that are not written in time are answered with 15, and may still come (BA-9)', async () => {
    const { made, log } = await harness();
    log.hold();
    const pending = made.router.heartbeat(joinBeat('g', 'A'), {
      clientId: 'c',
      clientHost: '/1',
      apiVersion: 1,
    });
    await made.clock.pass(5100);
    expect((await made.soon(pending)).error).to.equal('COORDINATOR_NOT_AVAILABLE');
    log.release();
    await made.clock.settle();
    expect(made.router.view('g')?.group.members.has('A')).to.equal(true);
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

  it('answers who waited for an older run when another run is waited for (OFF-8)', async () => {
    const { made } = await harness({ coordinator: { assignorAnswerWaitMs: 10_000 } });
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
    const { made } = await harness();
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

  it('a batch that the log would never take is refused alone (BA-5)', async () => {
    const clock = new ManualClock();
    const small = new LevelLog(new MemoryKeyValues(), clock, {
      batchBytesMax: 2000,
      writeBytesMax: 1_000_000,
      queuedBytesMax: 1_000_000,
    });
    const made = await new Harness({
      recordLog: small,
      compute: assignDirectly,
      clock,
      shardCount: 1,
    }).start();
    made.topics.set('in', 4);
    const huge = { ...joinBeat('big', 'B'), processId: 'p'.repeat(3000) };
    const [one, two] = [
      made.router.heartbeat(joinBeat('g', 'A'), someClient),
      made.router.heartbeat(huge, someClient),
    ];
    const answers = await made.soon(Promise.all([one, two]));
    expect(answers.map(({ error }) => error)).to.deep.equal(['NONE', 'COORDINATOR_NOT_AVAILABLE']);
    expect(made.router.view('big')).to.equal(undefined);
  });

  it('the journal tells what was decided and why', async () => {
    const { made } = await harness();
    await made.beat(joinBeat('g', 'A'));
    expect(made.journal.length).to.be.greaterThan(0);
    for (const entry of made.journal) expect(entry.because, entry.cause).to.not.deep.equal([]);
  });
});
