import { expect } from 'chai';
import { MemoryLog } from '../../src/store/memory.ts';
import { assignDirectly } from '../support/assignment.ts';
import { FaultyLog } from '../support/faulty-log.ts';
import { FakePatterns, FakeTopics, Harness, joinBeat, someClient } from '../support/harness.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import { subtopology, topology } from '../support/topology-samples.ts';

const READS_PATTERN = topology(subtopology('0', { sourceTopicRegex: ['in-.*'] }));

/** A group whose one member reads `in-a` through a pattern, and has had it for longer than searches are apart. */
async function joined() {
  const memory = new MemoryLog();
  const log = new FaultyLog(memory);
  const topics = new FakeTopics();
  const clock = new ManualClock();
  topics.set('in-a', 2);
  const made = await new Harness({
    recordLog: log,
    compute: assignDirectly,
    topics,
    clock,
  }).start();
  let { memberEpoch } = await join(made, 'A');
  await clock.pass(10_000);
  const beat = async () => {
    const answer = await made.beat(steadyBeat('g', 'A', memberEpoch));
    memberEpoch = answer.memberEpoch;
    return answer;
  };
  const reads = () => made.router.view('g')?.soft.configured?.subtopologies[0]?.sourceTopics;
  return { made, memory, log, topics, clock, beat, reads };
}

async function join(made: Harness, memberId: string) {
  return made.beat(await requestOf(made, memberId));
}

/** A join as the edge hands it over. */
async function requestOf({ topics }: Harness, memberId: string) {
  const patternSearch = await new FakePatterns(topics).search(['in-.*']);
  return { ...joinBeat('g', memberId, READS_PATTERN), patternSearch };
}

describe('ShardActor with source topic patterns', () => {
  it('searches at once when a topic is made, and reads it from the next heartbeat on (R-6)', async () => {
    const { made, topics, clock, beat, reads } = await joined();
    topics.set('in-b', 4);
    await clock.settle();
    expect(made.patterns.searches).to.deep.equal([['in-.*']]);
    expect(reads()).to.deep.equal(['in-a']);
    const answer = await beat();
    expect([answer.memberEpoch, answer.activeTasks]).to.deep.equal([
      3,
      [{ subtopologyId: '0', partitions: [0, 1, 2, 3] }],
    ]);
    expect(reads()).to.deep.equal(['in-a', 'in-b']);
  });

  it('has one search out at a time, and makes up for topics that changed meanwhile (R-6)', async () => {
    const { made, topics, clock, beat, reads } = await joined();
    made.patterns.hold();
    topics.set('in-b', 2);
    await clock.settle();
    topics.set('in-c', 2);
    await clock.pass(20_000);
    await beat();
    expect(made.patterns.searches).to.have.length(1);
    made.patterns.release();
    await clock.settle();
    await beat();
    await clock.settle();
    await beat();
    expect(made.patterns.searches).to.have.length(2);
    expect(reads()).to.deep.equal(['in-a', 'in-b', 'in-c']);
  });

  it('drops what a search finds that was out when a write was lost, and searches again (OFF-2)', async () => {
    const { made, log, topics, clock, beat, reads } = await joined();
    made.patterns.hold();
    topics.set('in-b', 2);
    await clock.settle();
    log.failAppend(log.called + 1, 'KAFKA_STORAGE_ERROR');
    expect((await join(made, 'B')).error).to.equal('NOT_COORDINATOR');
    made.patterns.release();
    await clock.settle();
    expect(made.router.view('g')?.soft.refreshDue).to.equal(true);
    await clock.pass(10_000);
    await beat();
    await clock.settle();
    await beat();
    expect(made.patterns.searches).to.have.length(2);
    expect(reads()).to.deep.equal(['in-a', 'in-b']);
  });

  it('searches for topics that were made after a write that was then lost (H-5, R-6)', async () => {
    const { made, log, topics, clock, beat, reads } = await joined();
    topics.set('in-b', 2);
    await clock.settle();
    await beat();
    log.hold();
    log.failAppend(log.called + 1, 'KAFKA_STORAGE_ERROR');
    const lost = made.router.heartbeat(await requestOf(made, 'B'), someClient);
    await clock.settle();
    // Too soon after the search before: the next heartbeat is to make up for it.
    topics.set('in-c', 2);
    await clock.settle();
    log.release();
    expect((await made.soon(lost)).error).to.equal('NOT_COORDINATOR');
    await clock.pass(10_000);
    await beat();
    await clock.settle();
    await beat();
    expect(made.patterns.searches).to.have.length(2);
    expect(reads()).to.deep.equal(['in-a', 'in-b', 'in-c']);
  });

  it('after a load has members come again until it has searched, and writes nothing (R-10, H-7)', async () => {
    const { memory, topics } = await joined();
    const log = new FaultyLog(memory);
    const again = await new Harness({ recordLog: log, compute: assignDirectly, topics }).start();
    const beat = () => again.beat(steadyBeat('g', 'A', 2));
    expect((await beat()).error).to.equal('COORDINATOR_LOAD_IN_PROGRESS');
    await again.clock.settle();
    expect((await beat()).error).to.equal('NONE');
    expect([log.called, again.patterns.searches.length]).to.deep.equal([0, 1]);
    expect(again.router.view('g')?.group.state).to.equal('Stable');
  });

  it('takes nobody for gone who asks while it cannot search (R-10, LOAD-1)', async () => {
    const { memory, topics } = await joined();
    const again = await new Harness({
      recordLog: memory,
      compute: assignDirectly,
      topics,
    }).start();
    again.patterns.hold();
    const beat = async () => (await again.beat(steadyBeat('g', 'A', 2))).error;
    for (let told = 0; told < 6; told++) {
      expect(await beat()).to.equal('COORDINATOR_LOAD_IN_PROGRESS');
      await again.clock.pass(10_000);
    }
    again.patterns.release();
    await again.clock.settle();
    expect(await beat()).to.equal('NONE');
    await again.clock.pass(45_000);
    expect(again.router.view('g')?.group.state).to.equal('Empty');
  });

  it('searches for no group without patterns, whatever changes', async () => {
    const { made, topics, clock } = await joined();
    await made.beat(joinBeat('other', 'A'));
    const before = made.patterns.searches.length;
    await clock.pass(60_000);
    await made.beat(steadyBeat('other', 'A', 2));
    topics.set('new', 1);
    await clock.settle();
    // The group with the pattern is another; its member is gone by now.
    expect(made.router.view('g')?.group.state).to.equal('Empty');
    expect(made.patterns.searches).to.have.length(before);
  });
});
