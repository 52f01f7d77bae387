import { pathToFileURL } from 'node:url';
import { decodeRequest } from '../src/wire/apis.ts';
import {
  decodeRequestHeader,
  encodeRequestFrame,
  encodeResponseFrame,
} from '../src/wire/headers.ts';
import { Reader } from '../src/wire/reader.ts';

/** What the codec costs for one kind of message. */
export type CodecCost = {
  readonly what: string;
  readonly nsPerRun: number;
  /** Made of every result, so that no work can be left out. */
  readonly check: number;
};

const MEMBER_ID = 'BLHKrg_bPbIcKvZ3qeEwfw';
const LENGTH_BYTES = 4;

const steady = encodeRequestFrame(
  'StreamsGroupHeartbeat',
  1,
  { correlationId: 1, clientId: 'c' },
  { groupId: 'word-count', memberId: MEMBER_ID, memberEpoch: 7, endpointInformationEpoch: 3 },
).subarray(LENGTH_BYTES);

const idle = {
  memberId: MEMBER_ID,
  memberEpoch: 7,
  heartbeatIntervalMs: 5000,
  taskOffsetIntervalMs: 60_000,
  acceptableRecoveryLag: 10_000n,
  status: [],
  endpointInformationEpoch: 3,
} as const;

const assigned = {
  ...idle,
  activeTasks: [
    { subtopologyId: '0', partitions: [0, 3, 6, 9, 12] },
    { subtopologyId: '1', partitions: [1, 4, 7, 10] },
  ],
  standbyTasks: [{ subtopologyId: '1', partitions: [2, 5] }],
  warmupTasks: [],
};

const cases: readonly { readonly what: string; readonly run: (turn: number) => number }[] = [
  {
    what: 'decode a steady heartbeat v1, header and body',
    run: () => {
      const { apiVersion, bodyOffset } = decodeRequestHeader(steady);
      const reader = new Reader(steady, bodyOffset);
      return decodeRequest('StreamsGroupHeartbeat', apiVersion, reader).memberEpoch;
    },
  },
  {
    what: 'encode an idle heartbeat answer v1, framed',
    run: (turn) => encodeResponseFrame('StreamsGroupHeartbeat', 1, turn, idle).length,
  },
  {
    what: 'encode a heartbeat answer v1 with 11 tasks, framed',
    run: (turn) => encodeResponseFrame('StreamsGroupHeartbeat', 1, turn, assigned).length,
  },
];

/**
 * Measures the messages that a coordinator meets most.
 *
 * @param runs how often each is measured, after a tenth of that to warm up.
 */
export function benchCodec(runs: number): CodecCost[] {
  return cases.map(({ what, run }) => {
    for (let turn = 0; turn < runs / 10; turn++) run(turn);
    let check = 0;
    const start = process.hrtime.bigint();
    for (let turn = 0; turn < runs; turn++) check += run(turn);
    const nsPerRun = Number(process.hrtime.bigint() - start) / runs;
    return { what, nsPerRun, check };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const runs = Number(process.argv[2] ?? 1_000_000);
  console.log(`Node ${process.version}, ${runs} runs each`);
  for (const { what, nsPerRun, check } of benchCodec(runs)) {
    console.log(`${what}: ${nsPerRun.toFixed(0)} ns (check ${check})`);
  }
}
