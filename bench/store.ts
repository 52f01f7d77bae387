import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../actors/ports.ts';
import type { GroupRecord } from '../machines/records.ts';
import type { Change, KeyValues } from '../src/store/key-values.ts';
import { LevelKeyValues } from '../src/store/level-key-values.ts';
import { LevelLog } from '../src/store/level-log.ts';

const SHARDS = 50;

/** What is appended: a target with the metadata of all targets, or, small and alone, what one member has now. */
export type Appended = 'target' | 'currentAssignment';

/** What is measured. */
export type StoreLoad = {
  readonly appended: Appended;
  /** How many callers append, each its next when its last is durable. */
  readonly concurrency: number;
  /** How many batches each caller appends. */
  readonly appendsEach: number;
};

/** One line of the benchmark. */
export type StoreBench = Omit<StoreLoad, 'appendsEach'> & {
  readonly appends: number;
  readonly appendsPerSecond: number;
  /** Synced writes it took: group commit makes them fewer than the appends. */
  readonly writes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the event loop's thread per append, callers included; undefined where the system does not tell. */
  readonly loopUsPerAppend: number | undefined;
  /** Sum of what a load finds: concurrency x the last epoch of each caller. */
  readonly check: number;
};

/** Appends to a store in a folder of its own, and measures how fast it becomes durable and what it costs. */
export async function benchStore(load: StoreLoad): Promise<StoreBench> {
  const { appended, concurrency, appendsEach } = load;
  const folder = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
  try {
    const keyValues = await LevelKeyValues.open({ folder, shardCount: SHARDS });
    const counted = countWrites(keyValues);
    const log = new LevelLog(counted.keyValues, promptly);
    const waitsMs: number[] = [];
    const call = async (caller: number): Promise<void> => {
      for (let epoch = 1; epoch <= appendsEach; epoch++) {
        const startMs = performance.now();
        const records = recordsOf[appended](caller, epoch);
        // As a shard does: what is admitted is what is appended.
        const batch = log.admit({ shard: caller % SHARDS, timestampMs: 0, records });
        await log.append([batch]);
        waitsMs.push(performance.now() - startMs);
      }
    };
    const startUs = mainThreadUs();
    const startMs = performance.now();
    await Promise.all(Array.from({ length: concurrency }, (_, caller) => call(caller)));
    const tookMs = performance.now() - startMs;
    const tookUs = mainThreadUs() - startUs;
    const check = await sumOfEpochs(log);
    await log.close();
    await keyValues.close();
    waitsMs.sort((a, b) => a - b);
    return {
      appended,
      concurrency,
      appends: waitsMs.length,
      appendsPerSecond: Math.round((waitsMs.length / tookMs) * 1000),
      writes: counted.count(),
      p50Ms: at(waitsMs, 0.5),
      p99Ms: at(waitsMs, 0.99),
      loopUsPerAppend: Number.isNaN(tookUs)
        ? undefined
        : Number((tookUs / waitsMs.length).toFixed(1)),
      check,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const promptly: Pick<Clock, 'soon'> = {
  soon: (callback) => {
    setImmediate(callback);
  },
};

const MEMBER_ID = 'Zm9yIG1lYXN1cmluZyBvbg';
const PARTITIONS = [0, 1, 2, 3, 4, 5, 6, 7];

const recordsOf: Readonly<
  Record<Appended, (caller: number, epoch: number) => readonly GroupRecord[]>
> = {
  target(caller, epoch) {
    const groupId = `group-${caller}`;
    const active = [{ subtopologyId: '0', partitions: PARTITIONS }];
    const metadata = { assignmentEpoch: epoch, assignmentTimestampMs: 0 };
    return [
      {
        type: 'targetMember',
        groupId,
        memberId: MEMBER_ID,
        value: { active, standby: [], warmup: [] },
      },
      { type: 'targetMetadata', groupId, value: metadata },
    ];
  },
  currentAssignment(caller, epoch) {
    const assignmentEpochs = PARTITIONS.map(() => epoch);
    const active = [{ subtopologyId: '0', partitions: PARTITIONS, assignmentEpochs }];
    return [
      {
        type: 'currentAssignment',
        groupId: `group-${caller}`,
        memberId: MEMBER_ID,
        value: {
          memberEpoch: epoch,
          previousMemberEpoch: epoch - 1,
          state: 'stable',
          assigned: { active, standby: [], warmup: [] },
          pendingRevocation: { active: [], standby: [], warmup: [] },
        },
      },
    ];
  },
};

async function sumOfEpochs(log: LevelLog): Promise<number> {
  let sum = 0;
  const add = (record: GroupRecord) => {
    if (record.type === 'targetMetadata') sum += record.value?.assignmentEpoch ?? 0;
    if (record.type === 'currentAssignment') sum += record.value?.memberEpoch ?? 0;
  };
  for (let shard = 0; shard < SHARDS; shard++) await log.load(shard, add, () => undefined);
  return sum;
}

function countWrites(inner: KeyValues): { keyValues: KeyValues; count: () => number } {
  let writes = 0;
  const keyValues: KeyValues = {
    get: (key) => inner.get(key),
    scan: (range, options) => inner.scan(range, options),
    write: (changes: readonly Change[], options) => {
      writes++;
      return inner.write(changes, options);
    },
    close: () => inner.close(),
  };
  return { keyValues, count: () => writes };
}

/** Processor time of this thread so far, counted when it pauses; NaN where the system does not tell. */
function mainThreadUs(): number {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8');
    return Number(text.split(' ')[0]) / 1000;
  } catch {
    return Number.NaN;
  }
}

function at(sorted: readonly number[], share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return Math.round(value * 1000) / 1000;
}

if (process.argv[1] === import.meta.filename) {
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown CPU'} x ${cpus().length}`);
  for (const [appended, concurrency, appendsEach] of [
    ['target', 1, 2000],
    ['target', 10, 1000],
    ['target', 1000, 100],
    ['currentAssignment', 20, 2000],
    ['currentAssignment', 1000, 200],
  ] as const) {
    console.log(JSON.stringify(await benchStore({ appended, concurrency, appendsEach })));
  }
}
