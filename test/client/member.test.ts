import { expect } from 'chai';
import { ScriptedMember } from '../../src/client/member.ts';
import { systemClock } from '../../src/clock.ts';
import { apis, type ResponseInput } from '../../src/wire/apis.ts';
import { FakeBroker, versionsWithoutStreams } from '../support/fake-broker.ts';

const NO_TASKS = { activeTasks: [], standbyTasks: [], warmupTasks: [] };

describe('ScriptedMember', () => {
  let broker: FakeBroker;
  let member: ScriptedMember;
  let answers: ResponseInput<'StreamsGroupHeartbeat'>[];

  beforeEach(async () => {
    const versions = versionsWithoutStreams().set(apis.StreamsGroupHeartbeat.key, {
      min: 0,
      max: 1,
    });
    broker = await FakeBroker.open({ nodeId: 1, clusterId: 'c', clock: systemClock, versions });
    answers = [];
    broker.on('StreamsGroupHeartbeat', () => answers.shift() ?? { errorCode: 25 });
    member = await ScriptedMember.connect({
      host: '127.0.0.1',
      port: broker.port,
      groupId: 'g',
      memberId: 'A',
      processId: 'p',
      topics: ['in'],
    });
  });

  afterEach(async () => {
    member.close();
    await broker.stop();
  });

  /** What was said about tasks, beat by beat. */
  const said = () =>
    broker.asked('StreamsGroupHeartbeat').map(({ memberEpoch, activeTasks }) => ({
      memberEpoch,
      activeTasks,
    }));

  it('joins with its topology, process and no tasks', async () => {
    answers.push({ memberEpoch: 2 });
    await member.join();
    expect(member.memberEpoch).to.equal(2);
    const [join] = broker.asked('StreamsGroupHeartbeat');
    expect(join).to.include({ groupId: 'g', memberId: 'A', memberEpoch: 0, processId: 'p' });
    expect(join?.topology?.subtopologies.map(({ sourceTopics }) => sourceTopics)).to.deep.equal([
      ['in'],
    ]);
    expect(join).to.deep.include({ ...NO_TASKS, clientTags: [] });
  });

  it('says what it owns only when that changed', async () => {
    const tasks = [{ subtopologyId: '0', partitions: [0, 1] }];
    answers.push({ memberEpoch: 2, ...NO_TASKS, activeTasks: tasks });
    answers.push({ memberEpoch: 2 }, { memberEpoch: 2 }, { memberEpoch: 2 });
    await member.join();
    expect(member.given.activeTasks).to.deep.equal(tasks);
    expect(member.owned).to.deep.equal(NO_TASKS);
    await member.beat();
    await member.acknowledge();
    await member.beat();
    expect(member.owned.activeTasks).to.deep.equal(tasks);
    expect(said()).to.deep.equal([
      { memberEpoch: 0, activeTasks: [] },
      { memberEpoch: 2, activeTasks: null },
      { memberEpoch: 2, activeTasks: tasks },
      { memberEpoch: 2, activeTasks: null },
    ]);
  });

  it('keeps what it knows after a refusal, and says again what was not taken', async () => {
    answers.push({ memberEpoch: 2, ...NO_TASKS }, { errorCode: 14 }, { memberEpoch: 3 });
    await member.join();
    expect(await member.acknowledge()).to.include({ errorCode: 14 });
    expect(member.memberEpoch).to.equal(2);
    await member.beat();
    expect(member.memberEpoch).to.equal(3);
    expect(said().map(({ activeTasks }) => activeTasks)).to.deep.equal([[], [], []]);
  });

  it('leaves with epoch -1 and owns nothing then', async () => {
    const activeTasks = [{ subtopologyId: '0', partitions: [0] }];
    answers.push({ memberEpoch: 2, ...NO_TASKS, activeTasks }, { memberEpoch: 2 });
    answers.push({ memberEpoch: -1 });
    await member.join();
    await member.acknowledge();
    await member.leave();
    expect(member.owned).to.deep.equal(NO_TASKS);
    expect(said().at(-1)).to.deep.equal({ memberEpoch: -1, activeTasks: null });
  });
});
