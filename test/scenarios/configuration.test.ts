import { expect } from 'chai';
import type { ClientConnection } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { errorName } from '../../src/wire/errors.ts';
import { closeCoordinators, createTopics, openCoordinator } from '../support/open-coordinator.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const GROUP = 32;
const SET = 0;
const DELETE = 1;

/** TOPO-T: subtopology `0` reads `in` and has a changelog. */
function stateful(replicationFactor = 0) {
  const changelog = { name: 'app-store-changelog', partitions: 0, replicationFactor };
  return {
    epoch: 0,
    subtopologies: [
      { subtopologyId: '0', sourceTopics: ['in'], stateChangelogTopics: [changelog] },
    ],
  };
}

async function groupEpoch(connection: ClientConnection, groupId = 'g'): Promise<number> {
  const { groups } = await connection.request('StreamsGroupDescribe', { groupIds: [groupId] });
  return groups[0]?.groupEpoch ?? -1;
}

async function alterGroup(
  connection: ClientConnection,
  name: string,
  value: string | null,
): Promise<string> {
  const { responses } = await connection.request('IncrementalAlterConfigs', {
    resources: [
      {
        resourceType: GROUP,
        resourceName: 'g',
        configs: [{ name, configOperation: value === null ? DELETE : SET, value }],
      },
    ],
  });
  return errorName(responses[0]?.errorCode ?? -1);
}

async function rounds(members: readonly ScriptedMember[], count = 4): Promise<void> {
  for (let round = 0; round < count; round++) {
    for (const member of members) {
      const { errorCode, errorMessage } = await member.acknowledge();
      expect(errorCode, errorMessage ?? '').to.equal(0);
    }
  }
}

describe('configuration', () => {
  afterEach(closeCoordinators);

  it('S53 A changed assignment config is noticed once, by the next beat', () =>
    inTemporaryFolder(async (folder) => {
      // Scripted members report no offsets, so a staged move would hold the group up.
      const off = { 'group.streams.num.warmup.replicas': '0' };
      const first = await openCoordinator(folder, off);
      const { connection } = first;
      await createTopics(connection, { in: 2, 'app-store-changelog': 2 });
      const topology = stateful();
      const newMember = (on: ClientConnection, memberId: string) =>
        new ScriptedMember(on, { groupId: 'g', memberId, processId: memberId, topology });
      const members = ['A', 'B'].map((memberId) => newMember(connection, memberId));
      for (const member of members) await member.join();
      await rounds(members);
      const settled = await groupEpoch(connection);
      const standbys = 'streams.num.standby.replicas';

      expect(await alterGroup(connection, standbys, '1')).to.equal('NONE');
      expect(await groupEpoch(connection), 'nobody has noticed yet').to.equal(settled);
      await rounds(members);
      expect(await groupEpoch(connection), 'set').to.equal(settled + 1);
      expect(members.map(({ owned }) => owned.standbyTasks.length)).to.deep.equal([1, 1]);
      expect(await alterGroup(connection, standbys, '1')).to.equal('NONE');
      await rounds(members);
      expect(await groupEpoch(connection), 'set to what it is').to.equal(settled + 1);

      for (const [name, value] of [
        [standbys, '99'],
        [standbys, '-1'],
        [standbys, 'many'],
        ['streams.heartbeat.interval.ms', '60000'],
        ['streams.assignor.name', 'unheard-of'],
      ] as const) {
        expect(await alterGroup(connection, name, value), `${name}=${value}`).to.equal(
          'INVALID_CONFIG',
        );
      }
      await rounds(members);
      expect(await groupEpoch(connection), 'refused').to.equal(settled + 1);
      await first.close();

      // The interval of those who hand tasks over is another matter (RSP-8).
      const second = await openCoordinator(folder, {
        ...off,
        'handover.heartbeat.interval.ms': '0',
      });
      // Members go on where they were, on new connections.
      for (const { memberId, memberEpoch } of members) {
        const answer = await second.connection.request('StreamsGroupHeartbeat', {
          groupId: 'g',
          memberId,
          memberEpoch,
        });
        expect([answer.errorCode, answer.memberEpoch]).to.deep.equal([0, memberEpoch]);
      }
      expect(await groupEpoch(second.connection), 'restarted').to.equal(settled + 1);

      expect(await alterGroup(second.connection, standbys, null)).to.equal('NONE');
      expect(await alterGroup(second.connection, 'streams.heartbeat.interval.ms', '6000')).to.equal(
        'NONE',
      );
      const [member] = members;
      const answer = await second.connection.request('StreamsGroupHeartbeat', {
        groupId: 'g',
        memberId: member?.memberId ?? '',
        memberEpoch: member?.memberEpoch ?? 0,
      });
      expect(await groupEpoch(second.connection), 'deleted').to.equal(settled + 2);
      expect(answer.errorCode).to.equal(0);
      expect(answer.heartbeatIntervalMs).to.equal(6000);
      await second.close();
    }));

  it('S25 A failed topic creation says why, is tried again at a measured pace, and is forgotten when the topic exists', () =>
    inTemporaryFolder(async (folder) => {
      const coordinator = await openCoordinator(folder);
      const { connection, log } = coordinator;
      await createTopics(connection, { in: 2 });
      const members = ['A', 'B'].map(
        (memberId) =>
          new ScriptedMember(connection, { groupId: 'g', memberId, topology: stateful(5) }),
      );
      const first = await Promise.all(members.map((member) => member.join()));
      expect(first.map(({ errorCode }) => errorCode)).to.deep.equal([0, 0]);
      for (let beats = 0; beats < 20; beats++) {
        for (const member of members) {
          const { status } = await member.beat();
          expect(status?.map(({ statusCode }) => statusCode)).to.deep.equal([3]);
          expect(status?.[0]?.statusDetail).to.contain('app-store-changelog');
          expect(status?.[0]?.statusDetail).to.contain('replication factor 5, wanted 1');
        }
      }
      const tries = log.lines.filter(({ text }) => text === 'Creating internal topics');
      expect(tries, 'within two heartbeat intervals').to.have.length(1);

      await createTopics(connection, { 'app-store-changelog': 2 });
      await rounds(members);
      expect((await members[0]?.beat())?.status ?? []).to.deep.equal([]);
      expect(members.map(({ owned }) => owned.activeTasks.length)).to.deep.equal([1, 1]);
      await coordinator.close();
    }));
});
