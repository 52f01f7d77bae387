import { expect } from 'chai';
import type { ClientConnection } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { systemClock } from '../../src/clock.ts';
import { errorCode } from '../../src/wire/errors.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { closeCoordinators, createTopics, openCoordinator } from '../support/open-coordinator.ts';
import { needRe2 } from '../support/re2.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const GROUP = 'orders';

function member(connection: ClientConnection, memberId: string, ...sourceTopicRegex: string[]) {
  const topology = { epoch: 0, subtopologies: [{ subtopologyId: '0', sourceTopicRegex }] };
  return new ScriptedMember(connection, { groupId: GROUP, memberId, topology });
}

const tasks = (one: ScriptedMember) =>
  one.given.activeTasks.flatMap(({ partitions }) => partitions).sort();

async function described(connection: ClientConnection) {
  const { groups } = await connection.request('StreamsGroupDescribe', { groupIds: [GROUP] });
  const [group] = groups;
  return {
    state: group?.groupState,
    epoch: group?.groupEpoch,
    reads: group?.topology?.subtopologies?.flatMap(({ sourceTopics }) => sourceTopics),
  };
}

describe('source topic patterns, over sockets', () => {
  before(function () {
    return needRe2(this);
  });
  afterEach(closeCoordinators);

  it('standalone: a topic that is created later is read, and a restart changes nothing (R-6, R-10)', () =>
    inTemporaryFolder(async (folder) => {
      const first = await openCoordinator(folder);
      await createTopics(first.connection, { 'in-a': 2, 'xin-b': 8 });
      const one = member(first.connection, 'one', 'in-.*');
      expect(await one.join()).to.include({ errorCode: 0, memberEpoch: 2 });
      expect(tasks(one)).to.deep.equal([0, 1]);
      await createTopics(first.connection, { 'in-b': 4 });
      // A join searches on its own: it need not wait for the next search of the group.
      expect(await one.join()).to.include({ errorCode: 0, memberEpoch: 3 });
      expect(tasks(one)).to.deep.equal([0, 1, 2, 3]);
      const reads = { state: 'Stable', epoch: 3, reads: ['in-a', 'in-b'] };
      expect(await described(first.connection)).to.deep.equal(reads);
      await first.close();

      const second = await openCoordinator(folder);
      const beat = () =>
        second.connection.request('StreamsGroupHeartbeat', {
          groupId: GROUP,
          memberId: 'one',
          memberEpoch: 3,
        });
      const errors = new Set<number>();
      for (;;) {
        const answer = await beat();
        errors.add(answer.errorCode);
        if (answer.errorCode === 0) break;
      }
      expect([...errors]).to.deep.equal([errorCode('COORDINATOR_LOAD_IN_PROGRESS'), 0]);
      expect(await described(second.connection)).to.deep.equal(reads);
    }));

  it('standalone: refuses what is no pattern with 128, and with profile kafka every pattern (R-1, R-9)', () =>
    inTemporaryFolder(async (folder) => {
      const kip = await openCoordinator(folder);
      expect(await member(kip.connection, 'one', 'a)|(b').join()).to.include({
        errorCode: errorCode('INVALID_REGULAR_EXPRESSION'),
        errorMessage:
          'Cannot use topology: source topic pattern "a)|(b" is not taken: unexpected ): a)|(b',
      });
      await kip.close();
      const kafka = await openCoordinator(folder, { 'protocol.profile': 'kafka' });
      expect(await member(kafka.connection, '', 'a.*').join()).to.include({
        errorCode: errorCode('INVALID_REQUEST'),
        errorMessage:
          'Cannot use topology: subtopology "0" has a source topic pattern, which is not taken here',
      });
    }));

  it('standalone: a pattern that matches too much is told, and reads nothing', () =>
    inTemporaryFolder(async (folder) => {
      const open = await openCoordinator(folder, { 'source.topic.regex.topics.max': '2' });
      await createTopics(open.connection, { a: 1, b: 1, c: 1 });
      const { errorCode: error, status } = await member(open.connection, 'one', '.*').join();
      expect([error, status]).to.deep.equal([
        0,
        [
          {
            statusCode: 1,
            statusDetail:
              'Source topics are missing: pattern .*: pattern .* matches 3 topics, wanted at most 2',
          },
        ],
      ]);
    }));

  it('gateway: reads what is there upstream, and what comes and goes there (R-6)', () =>
    inTemporaryFolder(async (folder) => {
      const cluster = await FakeCluster.open(systemClock);
      try {
        cluster.setTopic('in-a', 2);
        cluster.setTopic('out', 8);
        const open = await openCoordinator(folder, {
          'upstream.bootstrap.servers': `127.0.0.1:${cluster.broker(1).port}`,
          'upstream.metadata.poll.ms': '10',
          'upstream.topic.list.poll.ms': '10',
        });
        const one = member(open.connection, 'one', 'in-.*');
        expect(await one.join()).to.include({ errorCode: 0, memberEpoch: 2 });
        expect(tasks(one)).to.deep.equal([0, 1]);
        cluster.setTopic('in-b', 3);
        while (tasks(one).length < 3) await one.join();
        expect((await described(open.connection)).reads).to.deep.equal(['in-a', 'in-b']);
        cluster.topics.delete('in-b');
        while (tasks(one).length > 2) await one.acknowledge();
        expect((await described(open.connection)).reads).to.deep.equal(['in-a']);
      } finally {
        await closeCoordinators();
        await cluster.stop();
      }
    }));
});
