import { expect } from 'chai';
import type { CommitRequest } from '../../machines/commands.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { assignDirectly } from '../support/assignment.ts';
import { FaultyLog } from '../support/faulty-log.ts';
import { Harness, joinBeat } from '../support/harness.ts';

function commitOf(groupId: string, offsets: readonly (readonly [number, bigint])[]): CommitRequest {
  return {
    groupId,
    memberId: '',
    memberEpoch: -1,
    instanceId: null,
    transactional: false,
    apiVersion: 9,
    topics: [
      {
        name: 'in',
        topicId: '',
        partitions: offsets.map(([partition, offset]) => ({
          partition,
          offset,
          leaderEpoch: -1,
          metadata: '',
        })),
      },
    ],
  };
}

describe('Router.furthestOffsets()', () => {
  const asked = [
    { name: 'in', partitions: [2, 0, 1] },
    { name: 'none', partitions: [0] },
  ];

  async function opened() {
    const log = new FaultyLog(new MemoryLog());
    const options = { recordLog: log, compute: assignDirectly, shardCount: 4 };
    const harness = await new Harness(options).start();
    harness.topics.set('in', 3);
    const commit = (groupId: string, ...offsets: readonly (readonly [number, bigint])[]) =>
      harness.soon(harness.router.commit(commitOf(groupId, offsets)));
    return { harness, log, commit, furthest: () => harness.router.furthestOffsets(asked) };
  }

  it('looks at all groups of all shards, simple ones too', async () => {
    const { harness, commit, furthest } = await opened();
    const { memberId, memberEpoch } = await harness.beat(joinBeat('streams', 'A'));
    const byMember = { ...commitOf('streams', [[0, 40n]]), memberId, memberEpoch };
    await harness.soon(harness.router.commit(byMember));
    for (const [at, offset] of [3n, 2n ** 60n, 5n, 7n, 1n, 9n].entries())
      await commit(`simple-${at}`, [1, offset], [0, offset % 10n]);
    expect(await harness.soon(furthest())).to.deep.equal([[-1n, 40n, 2n ** 60n], [-1n]]);
  });

  it('sees what is committed, and nothing of what was lost', async () => {
    const { harness, log, commit, furthest } = await opened();
    await commit('a', [0, 5n]);
    log.failAppend(log.called + 1);
    await commit('a', [0, 50n]);
    expect(await harness.soon(furthest())).to.deep.equal([[-1n, 5n, -1n], [-1n]]);
  });
});
