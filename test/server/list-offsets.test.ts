import { expect } from 'chai';
import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import { answerListOffsets } from '../../src/server/handlers/list-offsets.ts';
import { encodeResponseFrame } from '../../src/wire/headers.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts } from '../support/standalone-parts.ts';
import { decodeAnswer } from '../support/wire-client.ts';

const TOPICS = { topics: { in: 3, out: 1 } };

describe('answerListOffsets()', () => {
  const LATEST = -1n;
  const EARLIEST = -2n;
  const answers: Partial<GroupCoordinator> = {
    furthestOffsets: async (asked) =>
      asked.map(({ partitions }) =>
        partitions.map((partition) => (partition === 0 ? 2n ** 60n : -1n)),
      ),
  };

  async function list(
    partitions: readonly (readonly [partitionIndex: number, timestamp: bigint])[],
    version = 11,
    name = 'in',
  ) {
    const parts = await standaloneParts(answers, TOPICS);
    const request = {
      replicaId: -1,
      isolationLevel: 0,
      timeoutMs: 0,
      topics: [
        {
          name,
          partitions: partitions.map(([partitionIndex, timestamp]) => ({
            partitionIndex,
            timestamp,
            currentLeaderEpoch: -1,
          })),
        },
      ],
    };
    const body = await answerListOffsets(parts)(request, incoming(version));
    const frame = encodeResponseFrame('ListOffsets', version, 1, body).subarray(4);
    return decodeAnswer('ListOffsets', version, frame).topics[0]?.partitions.map(
      ({ errorCode, offset, timestamp, leaderEpoch }) => [
        errorCode,
        offset,
        timestamp,
        leaderEpoch,
      ],
    );
  }

  it('begins at 0 and ends where the furthest group has committed', async () => {
    expect(
      await list([
        [0, EARLIEST],
        [0, LATEST],
        [1, LATEST],
        [0, -4n],
      ]),
    ).to.deep.equal([
      [0, 0n, -1n, 0],
      [0, 2n ** 60n, -1n, 0],
      [0, 0n, -1n, 0],
      [0, 0n, -1n, 0],
    ]);
  });

  it('has no leader epoch below version 4', async () => {
    expect(await list([[0, LATEST]], 3)).to.deep.equal([[0, 2n ** 60n, -1n, -1]]);
  });

  it('finds nothing by time, nor the newest of no records', async () => {
    expect(
      await list([
        [0, 1_700_000_000_000n],
        [0, -3n],
        [0, -5n],
      ]),
    ).to.deep.equal([
      [0, -1n, -1n, -1],
      [0, -1n, -1n, -1],
      [0, -1n, -1n, -1],
    ]);
  });

  it('answers 3 for a partition that does not exist, and does not close (17.1.3)', async () => {
    expect(
      await list([
        [3, LATEST],
        [-1, EARLIEST],
      ]),
    ).to.deep.equal([
      [3, -1n, -1n, -1],
      [3, -1n, -1n, -1],
    ]);
    expect(await list([[0, LATEST]], 11, 'nowhere')).to.deep.equal([[3, -1n, -1n, -1]]);
  });
});
