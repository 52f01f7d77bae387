import { expect } from 'chai';
import { type MemberTopology, ScriptedMember } from '../../src/client/member.ts';
import { systemClock } from '../../src/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import {
  closeCoordinators,
  type OpenCoordinator,
  openCoordinator,
} from '../support/open-coordinator.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

/** A coordinator, and the topics of its cluster. */
type World = {
  readonly open: OpenCoordinator;
  readonly setTopic: (name: string, partitionCount: number) => Promise<unknown>;
  readonly deleteTopic: (name: string) => Promise<unknown>;
};

async function standalone(folder: string, work: (world: World) => Promise<void>): Promise<void> {
  const open = await openCoordinator(folder);
  const { connection } = open;
  const known = new Set<string>();
  await work({
    open,
    setTopic: (name, count) => {
      if (known.has(name)) {
        const topics = [{ name, count, assignments: null }];
        return connection.request('CreatePartitions', { topics, timeoutMs: 5_000 });
      }
      known.add(name);
      const topics = [{ name, numPartitions: count, replicationFactor: 1 }];
      return connection.request('CreateTopics', { topics, timeoutMs: 5_000 });
    },
    deleteTopic: (name) => {
      known.delete(name);
      return connection.request('DeleteTopics', { topics: [{ name }], timeoutMs: 5_000 });
    },
  });
}

/** Topics change behind the gateway's back. */
async function gateway(folder: string, work: (world: World) => Promise<void>): Promise<void> {
  const cluster = await FakeCluster.open(systemClock);
  try {
    const open = await openCoordinator(folder, {
      'upstream.bootstrap.servers': `127.0.0.1:${cluster.broker(1).port}`,
      'upstream.metadata.poll.ms': '10',
    });
    await work({
      open,
      setTopic: async (name, count) => cluster.setTopic(name, count),
      deleteTopic: async (name) => cluster.topics.delete(name),
    });
  } finally {
    await closeCoordinators();
    await cluster.stop();
  }
}

const tasks = ({ given }: ScriptedMember) =>
  given.activeTasks.flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => `${subtopologyId}_${partition}`),
  );

for (const [front, inWorld] of [
  ['standalone', standalone],
  ['gateway', gateway],
] as const) {
  describe(`topics that change, ${front}`, () => {
    afterEach(closeCoordinators);

    it('S26 one that appears, grows or vanishes changes the group with the next heartbeats (H-4 to H-6)', () =>
      inTemporaryFolder((folder) =>
        inWorld(folder, async ({ open, setTopic, deleteTopic }) => {
          const member = new ScriptedMember(open.connection, {
            groupId: 'g',
            memberId: 'A',
            topics: ['in'],
          });
          const statuses = async () =>
            (await member.acknowledge()).status?.map(({ statusCode }) => statusCode) ?? [];
          const epochs = [(await member.join()).memberEpoch];
          expect(await statuses()).to.deep.equal([1]);
          for (const count of [2, 4]) {
            await setTopic('in', count);
            while (tasks(member).length < count) await member.acknowledge();
            await member.acknowledge();
            epochs.push(member.memberEpoch);
          }
          await deleteTopic('in');
          while (tasks(member).length > 0) await member.acknowledge();
          expect(await statuses()).to.deep.equal([1]);
          epochs.push(member.memberEpoch);
          expect(epochs, 'one step each').to.deep.equal([2, 3, 4, 5]);
        }),
      ));

    it('S25 168 internal topics are made together, and the group is ready in one step (C-5)', () =>
      inTemporaryFolder((folder) =>
        inWorld(folder, async ({ open, setTopic }) => {
          await setTopic('in', 3);
          const stateChangelogTopics = Array.from({ length: 168 }, (_, at) => ({
            name: `app-store-${at}-changelog`,
          }));
          const topology: MemberTopology = {
            epoch: 0,
            subtopologies: [{ subtopologyId: '0', sourceTopics: ['in'], stateChangelogTopics }],
          };
          const member = new ScriptedMember(open.connection, {
            groupId: 'g',
            memberId: 'A',
            topology,
          });
          await member.join();
          while (tasks(member).length < 3) await member.acknowledge();
          expect(member.memberEpoch, 'the join, and all topics there').to.equal(3);
          const asked = open.log.lines.flatMap(({ text, fields }) =>
            text === 'Creating internal topics' ? [fields] : [],
          );
          const all = { topics: stateChangelogTopics.map(({ name }) => name).sort() };
          // A beat between their creation and the next look at the cluster asks again, for all (C-9).
          expect(asked).to.deep.equal(asked.map(() => all));
          expect(asked).not.to.have.length(0);
        }),
      ));
  });
}
