import { expect } from 'chai';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import { LevelLog } from '../../src/store/level-log.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { assignDirectly } from '../support/assignment.ts';
import { Harness, joinBeat, someClient } from '../support/harness.ts';
import { acknowledge, allFour, harnessOnFaultyLog } from '../support/harness-on-faulty-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import { info, subtopology, topology } from '../support/topology-samples.ts';

describe('ShardActor, when the log fails', () => {
  it('a lost append takes back records and memory, and answers with an error to retry (BA-3, ORD-2)', async () => {
    const { made, log } = await harnessOnFaultyLog();
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
    const { made, log } = await harnessOnFaultyLog({ settings: { initialRebalanceDelayMs: 3000 } });
    const { memberEpoch } = await made.beat(joinBeat('g', 'A'));
    log.failAppend(log.called + 1);
    await made.clock.pass(3000);
    const next = await made.beat(steadyBeat('g', 'A', memberEpoch));
    expect([next.error, next.activeTasks]).to.deep.equal(['NONE', allFour]);
  });

  it('a run that was started in a lost append is not taken for a later one (BA-3, OFF-5)', async () => {
    const { made, log } = await harnessOnFaultyLog();
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
      const { made, log, memory } = await harnessOnFaultyLog();
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

  it('a removal that was not written is tried again a session later (TMR-2)', async () => {
    const { made, log } = await harnessOnFaultyLog();
    await made.beat(joinBeat('g', 'A'));
    log.failAppend(log.called + 1);
    await made.clock.pass(46_000);
    expect(made.router.view('g')?.group.state).to.equal('Stable');
    await made.clock.pass(46_000);
    expect(made.router.view('g')?.group.state).to.equal('Empty');
  });

  it('a first target that was not written is computed by the next heartbeat (TMR-2, ASG-5)', async () => {
    const { made, log } = await harnessOnFaultyLog({ settings: { initialRebalanceDelayMs: 3000 } });
    const { memberEpoch } = await made.beat(joinBeat('g', 'A'));
    log.failAppend(log.called + 1);
    await made.clock.pass(6100);
    expect(made.router.view('g')?.group.state).to.equal('Assigning');
    const answer = await made.beat(steadyBeat('g', 'A', memberEpoch));
    expect(answer.activeTasks).to.deep.equal(allFour);
  });

  it('an initial delay that a lost deletion cancelled runs on (BA-3, TMR-2)', async () => {
    const { made, log } = await harnessOnFaultyLog({ settings: { initialRebalanceDelayMs: 3000 } });
    await made.beat(joinBeat('g', 'A'));
    await made.beat(steadyBeat('g', 'A', -1));
    log.failAppend(log.called + 1);
    const [deleted] = await made.soon(made.router.delete(['g']));
    expect(deleted?.error).to.equal('COORDINATOR_NOT_AVAILABLE');
    const { memberEpoch, activeTasks } = await made.beat(joinBeat('g', 'B'));
    expect(activeTasks).to.deep.equal([]);
    await made.clock.pass(3000);
    const answer = await made.beat(steadyBeat('g', 'B', memberEpoch));
    expect(answer.activeTasks).to.deep.equal(allFour);
  });

  it('topics are asked for when the records that want them are durable, before the answer leaves (C-2)', async () => {
    const { made, log } = await harnessOnFaultyLog();
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

  it('records that are not written in time are answered with 15, and may still come (BA-9)', async () => {
    const { made, log } = await harnessOnFaultyLog();
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
});
