import { expect } from 'chai';
import type { ApiName, RequestInput, ResponseInput } from '../../src/wire/apis.ts';
import { apis, decodeRequest, decodeResponse } from '../../src/wire/apis.ts';
import {
  decodeRequestHeader,
  decodeResponseHeader,
  encodeRequestFrame,
  encodeResponseFrame,
} from '../../src/wire/headers.ts';
import { Reader } from '../../src/wire/reader.ts';
import { decodeRecordBatches, encodeRecordBatches } from '../../src/wire/record-batch.ts';

const CLIENT = { correlationId: 1, clientId: 'c' };

const joining: RequestInput<'StreamsGroupHeartbeat'> = {
  groupId: 'g',
  memberId: 'm',
  memberEpoch: 0,
  endpointInformationEpoch: -1,
  rebalanceTimeoutMs: 300_000,
  topology: {
    epoch: 0,
    subtopologies: [
      {
        subtopologyId: '0',
        sourceTopics: ['in'],
        sourceTopicRegex: [],
        stateChangelogTopics: [],
        repartitionSinkTopics: [],
        repartitionSourceTopics: [],
        copartitionGroups: [],
      },
    ],
  },
  processId: 'p',
  activeTasks: [],
  standbyTasks: [],
  warmupTasks: [],
  clientTags: [],
};

const steady: RequestInput<'StreamsGroupHeartbeat'> = {
  groupId: 'g',
  memberId: 'm',
  memberEpoch: 2,
  endpointInformationEpoch: -1,
};

const answer = {
  memberId: 'm',
  memberEpoch: 2,
  heartbeatIntervalMs: 5000,
  taskOffsetIntervalMs: 60_000,
  status: [],
  activeTasks: [{ subtopologyId: '0', partitions: [0, 1] }],
  standbyTasks: [],
  warmupTasks: [],
};

describe('golden bytes (wire.md 1.8)', () => {
  request(
    'ApiVersions v3',
    'ApiVersions',
    3,
    {
      clientSoftwareName: 'x',
      clientSoftwareVersion: '1',
    },
    '00000011 0012 0003 00000001 0001 63 00 02 78 02 31 00',
  );

  request(
    'ApiVersions v5 with cluster and node',
    'ApiVersions',
    5,
    {
      clientSoftwareName: 'x',
      clientSoftwareVersion: '1',
      clusterId: 'k',
      nodeId: 2,
    },
    '00000017 0012 0005 00000001 0001 63 00 02 78 02 31 02 6b 00000002 00',
  );

  response(
    'ApiVersions "unsupported", body v0',
    'ApiVersions',
    0,
    {
      errorCode: 35,
      apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 4 }],
    },
    '00000010 00000001 0023 00000001 0012 0000 0004',
  );

  response(
    'ApiVersions v4 with features',
    'ApiVersions',
    4,
    {
      apiKeys: [
        { apiKey: 18, minVersion: 0, maxVersion: 4 },
        { apiKey: 88, minVersion: 0, maxVersion: 1 },
      ],
      supportedFeatures: [{ name: 'streams.version', minVersion: 0, maxVersion: 1 }],
      finalizedFeaturesEpoch: 1n,
      finalizedFeatures: [{ name: 'streams.version', minVersionLevel: 1, maxVersionLevel: 1 }],
    },
    `00000054 00000001 0000 03 001200000004 00 005800000001 00 00000000 03
      00 16 021073747265616d732e76657273696f6e 0000 0001 00
      01 08 0000000000000001
      02 16 021073747265616d732e76657273696f6e 0001 0001 00`,
  );

  request(
    'FindCoordinator v6',
    'FindCoordinator',
    6,
    { keyType: 0, coordinatorKeys: ['g'] },
    '00000011 000a 0006 00000001 0001 63 00 00 02 02 67 00',
  );

  response(
    'FindCoordinator v6',
    'FindCoordinator',
    6,
    {
      coordinators: [{ key: 'g', nodeId: 0, host: 'h', port: 9092, errorMessage: null }],
    },
    '0000001b 00000001 00 00000000 02 0267 00000000 0268 00002384 0000 00 00 00',
  );

  request(
    'StreamsGroupHeartbeat v0, joining',
    'StreamsGroupHeartbeat',
    0,
    joining,
    `0000003c 0058 0000 00000001 0001 63 00 0267 026d 00000000 ffffffff 00 00 000493e0
     01 00000000 02 0230 02 03696e 01 01 01 01 01 00 00 01 01 01 0270 ff 01 00 00 00 00`,
  );

  request(
    'StreamsGroupHeartbeat v0, steady',
    'StreamsGroupHeartbeat',
    0,
    steady,
    `00000029 0058 0000 00000001 0001 63 00 0267 026d 00000002 ffffffff 00 00 ffffffff ff 00 00 00
     00 ff 00 00 00 00 00`,
  );

  response(
    'StreamsGroupHeartbeat v0',
    'StreamsGroupHeartbeat',
    0,
    { ...answer, acceptableRecoveryLagLegacy: 10_000 },
    `00000034 00000001 00 00000000 0000 00 026d 00000002 00001388 00002710 0000ea60 01
     02 0230 03 00000000 00000001 00 01 01 00000000 00 00`,
  );

  response(
    'StreamsGroupHeartbeat v1',
    'StreamsGroupHeartbeat',
    1,
    { ...answer, acceptableRecoveryLag: 10_000n },
    `00000039 00000001 00 00000000 0000 00 026d 00000002 00001388 0000ea60 0000000000002710 01
     02 0230 03 00000000 00000001 00 01 01 00 00000000 00 00`,
  );

  const batchHex = plainHex(`0000000000000000 00000047 ffffffff 02 00be233d 0000 00000001
     0000018bcfe56800 0000018bcfe56805 ffffffffffffffff ffff ffffffff 00000002
     10 00 00 00 02 6b 02 76 00 18 00 0a 02 04 6b32 01 02 02 68 02 78`);
  const records = [
    { offset: 0n, timestamp: 1_700_000_000_000n, key: 'k', value: 'v', headers: [] },
    { offset: 1n, timestamp: 1_700_000_000_005n, key: 'k2', value: null, headers: [['h', 'x']] },
  ].map(({ offset, timestamp, key, value, headers }) => ({
    offset,
    timestamp,
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: headers.map(([name, text]) => ({
      key: String(name),
      value: Buffer.from(String(text)),
    })),
  }));

  it('encodeRecordBatches() writes a batch of two records', () => {
    expect(encodeRecordBatches([{ records }]).toString('hex')).to.equal(batchHex);
  });

  it('decodeRecordBatches() reads a batch of two records', () => {
    expect(decodeRecordBatches(Buffer.from(batchHex, 'hex'))).to.deep.equal([
      {
        baseOffset: 0n,
        partitionLeaderEpoch: -1,
        compression: 'none',
        timestampType: 'create',
        transactional: false,
        control: false,
        deleteHorizon: false,
        lastOffsetDelta: 1,
        baseTimestamp: 1_700_000_000_000n,
        maxTimestamp: 1_700_000_000_005n,
        producerId: -1n,
        producerEpoch: -1,
        baseSequence: -1,
        records,
      },
    ]);
  });
});

function plainHex(spaced: string): string {
  return spaced.replaceAll(/\s/g, '');
}

/** Encodes the frame, then holds what its bytes decode to against what was encoded. */
function request<N extends ApiName>(
  title: string,
  name: N,
  version: number,
  body: RequestInput<N>,
  hex: string,
): void {
  it(`encodes and decodes the request ${title}`, () => {
    const frame = encodeRequestFrame(name, version, CLIENT, body);
    expect(frame.toString('hex')).to.equal(plainHex(hex));
    const payload = frame.subarray(4);
    const { bodyOffset, ...header } = decodeRequestHeader(payload);
    expect(header).to.deep.equal({ apiKey: apis[name].key, apiVersion: version, ...CLIENT });
    const reader = new Reader(payload, bodyOffset);
    expect(decodeRequest(name, version, reader)).to.deep.include(body);
    expect(reader.remaining).to.equal(0);
  });
}

function response<N extends ApiName>(
  title: string,
  name: N,
  version: number,
  body: ResponseInput<N>,
  hex: string,
): void {
  it(`encodes and decodes the response ${title}`, () => {
    const frame = encodeResponseFrame(name, version, 1, body);
    expect(frame.toString('hex')).to.equal(plainHex(hex));
    const payload = frame.subarray(4);
    const { correlationId, bodyOffset } = decodeResponseHeader(payload, apis[name].key, version);
    expect(correlationId).to.equal(1);
    const reader = new Reader(payload, bodyOffset);
    const decoded = decodeResponse(name, version, reader);
    expect(reader.remaining).to.equal(0);
    expect(encodeResponseFrame(name, version, 1, decoded as ResponseInput<N>)).to.deep.equal(frame);
  });
}
