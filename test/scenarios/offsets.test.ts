import { expect } from 'chai';
import type { ClientConnection } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { systemClock } from '../../src/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import {
  closeCoordinators,
  createTopics,
  type OpenCoordinator,
  openCoordinator,
} from '../support/open-coordinator.ts';
import { until } from '../support/open-server.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

type Committer = { readonly memberId: string; readonly epoch: number };

const NOBODY: Committer = { memberId: '', epoch: -1 };
const COMMIT_BY_EPOCH = 9;

/** The offsets of `g` as clients see them, over a socket. */
class Offsets {
  readonly #connection: ClientConnection;

  constructor(connection: ClientConnection) {
    this.#connection = connection;
  }

  /** The error of a commit to one partition of `in`. */
  async commit(
    { memberId, epoch }: Committer,
    partitionIndex: number,
    committedOffset: bigint,
    version = COMMIT_BY_EPOCH,
  ): Promise<number | undefined> {
    const partitions = [{ partitionIndex, committedOffset, committedMetadata: '' }];
    const { topics } = await this.#connection.request(
      'OffsetCommit',
      {
        groupId: 'g',
        memberId,
        generationIdOrMemberEpoch: epoch,
        topics: [{ name: 'in', partitions }],
      },
      { version },
    );
    return topics[0]?.partitions[0]?.errorCode;
  }

  /** The error of a fetch, and the offsets of both partitions if there is none. */
  async fetch(memberId: string | null, memberEpoch: number) {
    const topics = [{ name: 'in', partitionIndexes: [0, 1] }];
    const { groups } = await this.#connection.request(
      'OffsetFetch',
      { groups: [{ groupId: 'g', memberId, memberEpoch, topics }], requireStable: true },
      { version: 9 },
    );
    const found = groups[0]?.topics.flatMap(({ partitions }) => partitions) ?? [];
    return [groups[0]?.errorCode, ...found.map(({ committedOffset }) => committedOffset)];
  }

  /** The error of a deletion of one partition's offset. */
  async deleteOne(partitionIndex: number): Promise<number | undefined> {
    const answer = await this.#connection.request('OffsetDelete', {
      groupId: 'g',
      topics: [{ name: 'in', partitions: [{ partitionIndex }] }],
    });
    return answer.errorCode === 0 ? answer.topics[0]?.partitions[0]?.errorCode : answer.errorCode;
  }

  async deleteGroup(): Promise<number | undefined> {
    const { results } = await this.#connection.request('DeleteGroups', { groupsNames: ['g'] });
    return results[0]?.errorCode;
  }
}

for (const mode of ['standalone', 'gateway'] as const) {
  describe(`offsets of a streams group, over a socket (${mode})`, () => {
    let cluster: FakeCluster | undefined;

    afterEach(async () => {
      await closeCoordinators();
      await cluster?.stop();
      cluster = undefined;
    });

    async function open(folder: string): Promise<OpenCoordinator> {
      if (mode === 'standalone') return openCoordinator(folder);
      if (cluster === undefined) {
        cluster = await FakeCluster.open(systemClock);
        cluster.setTopic('in', 2);
      }
      const bootstrap = `127.0.0.1:${cluster.broker(1).port}`;
      return openCoordinator(folder, { 'upstream.bootstrap.servers': bootstrap });
    }

    /** What the cluster behind a gateway was asked to store, by partition. */
    const storedUpstream = () =>
      (cluster?.broker(1).asked('OffsetCommit') ?? []).flatMap(({ topics }) =>
        topics.flatMap(({ partitions }) =>
          partitions.map((one) => `${one.partitionIndex}=${one.committedOffset}`),
        ),
      );

    it('S44 A commit built just before a rebalance is accepted, a later one of the former owner is not', () =>
      inTemporaryFolder(async (folder) => {
        const { connection } = await open(folder);
        if (mode === 'standalone') await createTopics(connection, { in: 2 });
        const offsets = new Offsets(connection);
        const [a, b] = ['A', 'B'].map(
          (memberId) => new ScriptedMember(connection, { groupId: 'g', memberId, topics: ['in'] }),
        ) as [ScriptedMember, ScriptedMember];
        expect((await a.join()).errorCode).to.equal(0);
        await a.acknowledge();
        const before = { memberId: 'A', epoch: a.memberEpoch };
        expect((await b.join()).errorCode).to.equal(0);
        await a.beat();
        expect(a.given.activeTasks).to.deep.equal([{ subtopologyId: '0', partitions: [0] }]);

        expect(await offsets.commit(before, 1, 11n), 'still to be given up').to.equal(0);
        await a.acknowledge();
        const now = { memberId: 'A', epoch: a.memberEpoch };
        expect(now.epoch).to.be.greaterThan(before.epoch);
        expect({
          kept: await offsets.commit(before, 0, 10n),
          current: await offsets.commit(now, 0, 12n),
          givenUp: await offsets.commit(before, 1, 99n),
          ahead: await offsets.commit({ ...now, epoch: now.epoch + 5 }, 0, 99n),
          tooOld: await offsets.commit(now, 0, 99n, 8),
          stranger: await offsets.commit({ ...now, memberId: 'Z' }, 0, 99n),
          admin: await offsets.commit(NOBODY, 0, 99n),
        }).to.deep.equal({
          kept: 0,
          current: 0,
          givenUp: 113,
          ahead: 113,
          tooOld: 35,
          stranger: 25,
          admin: 25,
        });
        expect(await offsets.fetch(null, -1)).to.deep.equal([0, 12n, 11n]);
        if (mode === 'gateway') {
          expect(storedUpstream(), 'nothing refused has reached the cluster').to.deep.equal([
            ...['1=11', '0=10', '0=12'],
          ]);
        }
      }));

    it('S41, S45, S47 While a group lives its offsets may be read; once it is empty they may be written and deleted', () =>
      inTemporaryFolder(async (folder) => {
        let coordinator = await open(folder);
        const { connection } = coordinator;
        if (mode === 'standalone') await createTopics(connection, { in: 2 });
        const offsets = new Offsets(connection);
        const member = new ScriptedMember(connection, {
          groupId: 'g',
          memberId: 'A',
          topics: ['in'],
        });
        expect((await member.join()).errorCode).to.equal(0);
        const { memberEpoch: epoch } = member;
        for (const partition of [0, 1]) {
          const offset = BigInt(10 + partition);
          expect(await offsets.commit({ memberId: 'A', epoch }, partition, offset)).to.equal(0);
        }
        expect({
          withoutMember: await offsets.fetch(null, -1),
          asMember: await offsets.fetch('A', epoch),
          oldEpoch: await offsets.fetch('A', epoch - 1),
          stranger: await offsets.fetch('Z', epoch),
          write: await offsets.commit(NOBODY, 0, 1n),
          deleteOffset: await offsets.deleteOne(0),
          deleteGroup: await offsets.deleteGroup(),
        }).to.deep.equal({
          withoutMember: [0, 10n, 11n],
          asMember: [0, 10n, 11n],
          oldEpoch: [113],
          stranger: [25],
          write: 25,
          deleteOffset: 86,
          deleteGroup: 68,
        });
        expect(await offsets.fetch(null, -1), 'nothing was touched').to.deep.equal([0, 10n, 11n]);
        expect((await member.beat()).errorCode).to.equal(0);

        await member.leave();
        await until(() => (cluster?.group('g').members.length ?? 0) === 0);
        expect(await offsets.commit(NOBODY, 0, 5n)).to.equal(0);
        expect(await offsets.deleteOne(1)).to.equal(0);
        expect(await offsets.fetch(null, -1)).to.deep.equal([0, 5n, -1n]);
        await coordinator.close();
        coordinator = await open(folder);
        const again = new Offsets(coordinator.connection);
        expect(await again.fetch(null, -1)).to.deep.equal([0, 5n, -1n]);
        expect(await again.deleteGroup()).to.equal(0);
        expect(await again.deleteGroup()).to.equal(69);
        expect(await again.fetch(null, -1)).to.deep.equal([0, -1n, -1n]);
        await coordinator.close();
        coordinator = await open(folder);
        expect(await new Offsets(coordinator.connection).deleteGroup()).to.equal(69);
        await coordinator.close();
      }));
  });
}
