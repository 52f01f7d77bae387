import { expect } from 'chai';
import { ScriptedMember } from '../../src/client/member.ts';
import { closeCoordinators, createTopics, openCoordinator } from '../support/open-coordinator.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

describe('numbers on the wire and on disk', () => {
  afterEach(closeCoordinators);

  it('S17 Offsets are exact 64-bit numbers (step 4): committed, restarted, fetched', () =>
    inTemporaryFolder(async (folder) => {
      const offsets = [9_007_199_254_740_993n, 9_223_372_036_854_775_806n];
      const first = await openCoordinator(folder);
      await createTopics(first.connection, { in: 2 });
      const member = new ScriptedMember(first.connection, { groupId: 'g', topics: ['in'] });
      await member.join();
      await member.acknowledge();
      const { topics } = await first.connection.request(
        'OffsetCommit',
        {
          groupId: 'g',
          memberId: member.memberId,
          generationIdOrMemberEpoch: member.memberEpoch,
          topics: [
            {
              name: 'in',
              partitions: offsets.map((committedOffset, partitionIndex) => ({
                partitionIndex,
                committedOffset,
              })),
            },
          ],
        },
        { version: 9 },
      );
      expect(topics[0]?.partitions.map(({ errorCode }) => errorCode)).to.deep.equal([0, 0]);
      await first.close();

      const second = await openCoordinator(folder);
      const { groups } = await second.connection.request(
        'OffsetFetch',
        { groups: [{ groupId: 'g', topics: null }] },
        { version: 8 },
      );
      const fetched = groups[0]?.topics.flatMap(({ partitions }) => partitions);
      expect(
        fetched?.map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset]),
      ).to.deep.equal(offsets.map((offset, partition) => [partition, offset]));
      await second.close();
    }));

  for (const [profile, inVersion0] of [
    ['kip', 2_147_483_647],
    ['kafka', 0],
  ] as const) {
    it(`S20 The recovery lag has two widths (step 1, ${profile})`, () =>
      inTemporaryFolder(async (folder) => {
        const { connection, close } = await openCoordinator(folder, {
          'protocol.profile': profile,
        });
        await createTopics(connection, { in: 2 });
        await connection.request('IncrementalAlterConfigs', {
          resources: [
            {
              resourceType: 32,
              resourceName: 'g',
              configs: [
                {
                  name: 'streams.acceptable.recovery.lag',
                  configOperation: 0,
                  value: '5000000000',
                },
              ],
            },
          ],
        });
        const join = (memberId: string, version: number) =>
          connection.request(
            'StreamsGroupHeartbeat',
            {
              groupId: 'g',
              memberId,
              memberEpoch: 0,
              rebalanceTimeoutMs: 60_000,
              topology: { epoch: 0, subtopologies: [{ subtopologyId: '0', sourceTopics: ['in'] }] },
              activeTasks: [],
              standbyTasks: [],
              warmupTasks: [],
              processId: memberId,
              clientTags: [],
            },
            { version },
          );
        const [old, young] = [await join('A', 0), await join('B', 1)];
        expect([old.errorCode, old.acceptableRecoveryLagLegacy]).to.deep.equal([0, inVersion0]);
        expect([young.errorCode, young.acceptableRecoveryLag]).to.deep.equal([0, 5_000_000_000n]);
        expect(old.taskOffsetIntervalMs).to.equal(young.taskOffsetIntervalMs);
        expect(old.heartbeatIntervalMs).to.be.above(0);
        await close();
      }));
  }
});
