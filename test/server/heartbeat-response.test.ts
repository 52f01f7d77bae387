import { expect } from 'chai';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { heartbeatResponse } from '../../src/server/handlers/heartbeat.ts';
import { encodeResponseFrame } from '../../src/wire/headers.ts';
import { IDLE_ANSWER } from '../support/fake-group-coordinator.ts';
import { decodeAnswer } from '../support/wire-client.ts';

const FULL: HeartbeatAnswer = {
  ...IDLE_ANSWER,
  statuses: [
    { status: 'STALE_TOPOLOGY', detail: 'a' },
    { status: 'MISSING_SOURCE_TOPICS', detail: 'b' },
    { status: 'INCORRECTLY_PARTITIONED_TOPICS', detail: 'c' },
    { status: 'MISSING_INTERNAL_TOPICS', detail: 'd' },
    { status: 'SHUTDOWN_APPLICATION', detail: 'e' },
    { status: 'ASSIGNMENT_DELAYED', detail: 'f' },
    { status: 'MISSING_CLIENT_TAGS', detail: 'g' },
  ],
  activeTasks: [{ subtopologyId: '0', partitions: [0, 1] }],
  standbyTasks: [],
  warmupTasks: [{ subtopologyId: '1', partitions: [2] }],
  endpointInformationEpoch: 4,
  partitionsByUserEndpoint: [
    {
      userEndpoint: { host: 'h', port: 65_535 },
      activePartitions: [{ topic: 'in', partitions: [0] }],
      standbyPartitions: [],
    },
  ],
  topologyDescriptionRequired: true,
};

function onTheWire(answer: HeartbeatAnswer, version: number, profile: 'kip' | 'kafka' = 'kip') {
  const body = heartbeatResponse(answer, version, resolveBehaviour(profile));
  return encodeResponseFrame('StreamsGroupHeartbeat', version, 1, body);
}

function roundTrip(answer: HeartbeatAnswer, version: number, profile: 'kip' | 'kafka' = 'kip') {
  const frame = onTheWire(answer, version, profile).subarray(4);
  return decodeAnswer('StreamsGroupHeartbeat', version, frame);
}

describe('heartbeatResponse()', () => {
  const { statuses: _statuses, acceptableRecoveryLag: _lag, error: _error, ...same } = FULL;
  const status = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((statusDetail, statusCode) => ({
    statusCode,
    statusDetail,
  }));

  it('has the lag as int64 and the description flag in version 1', () => {
    expect(roundTrip(FULL, 1)).to.deep.equal({
      ...same,
      throttleTimeMs: 0,
      errorCode: 0,
      status,
      acceptableRecoveryLagLegacy: 0,
      acceptableRecoveryLag: 10_000n,
    });
  });

  it('has the lag as int32 and no description flag in version 0 (X25)', () => {
    expect(roundTrip(FULL, 0)).to.deep.equal({
      ...same,
      throttleTimeMs: 0,
      errorCode: 0,
      status,
      acceptableRecoveryLagLegacy: 10_000,
      acceptableRecoveryLag: -1n,
      topologyDescriptionRequired: false,
    });
  });

  it('has 0 for the lag of version 0 in profile kafka (X25)', () => {
    expect(roundTrip(FULL, 0, 'kafka').acceptableRecoveryLagLegacy).to.equal(0);
  });

  it('caps the lag of version 0 (records-and-configs 9.1)', () => {
    const lagOf = (acceptableRecoveryLag: bigint) =>
      roundTrip({ ...FULL, acceptableRecoveryLag }, 0).acceptableRecoveryLagLegacy;
    expect([2n ** 31n - 1n, 2n ** 31n, 2n ** 63n - 1n, -1n].map(lagOf)).to.deep.equal([
      2_147_483_647, 2_147_483_647, 2_147_483_647, 0,
    ]);
  });

  const assigned: HeartbeatAnswer = {
    ...IDLE_ANSWER,
    activeTasks: [{ subtopologyId: '0', partitions: [0, 1] }],
    standbyTasks: [],
    warmupTasks: [],
  };

  it('gives the golden bytes of both layouts (wire 1.8)', () => {
    expect(onTheWire(assigned, 0).toString('hex')).to.equal(
      '00000034000000010000000000000000026d0000000200001388000027100000ea6001' +
        '0202300300000000000000010001010000000000' +
        '00',
    );
    expect(onTheWire(assigned, 1).toString('hex')).to.equal(
      '00000039000000010000000000000000026d00000002000013880000ea60000000000000271001' +
        '020230030000000000000001000101000000000000' +
        '00',
    );
  });
});
