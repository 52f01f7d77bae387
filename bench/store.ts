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

/** One line of the benchmark. */
export type StoreBench = {
  /** How many callers append, each its next when its last is durable. */
  readonly concurrency: number;
  readonly appends: number;
  readonly appendsPerSecond: number;
  /** Synced writes it took: group commit makes them fewer than the appends. */
  readonly writes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Sum of what a load finds: concurrency x the last epoch of each caller. */
  readonly check: number;
};

/**
 * Appends batches of two records to a store in a folder of its own and measures how fast they become durable.
 *
 * @param appendsEach how many batches each caller appends.
 */
export async function benchStore(concurrency: number, appendsEach: number): Promise<StoreBench> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
  try {
    const keyValues = await LevelKeyValues.open({ folder, shardCount: SHARDS });
    const counted = countWrites(keyValues);
    const log = new LevelLog(counted.keyValues, promptly);
    const waitsMs: number[] = [];
    const call = async (caller: number): Promise<void> => {
      for (let epoch = 1; epoch <= appendsEach; epoch++) {
        const startMs = performance.now();
        const records = recordsOf(caller, epoch);
        await log.append([{ shard: caller % SHARDS, timestampMs: 0, records }]);
        waitsMs.push(performance.now() - startMs);
      }
    };
    const startMs = performance.now();
    await Promise.all(Array.from({ length: concurrency }, (_, caller) => call(caller)));
    const tookMs = performance.now() - startMs;
    const check = await sumOfEpochs(log);
    await log.close();
    await keyValues.close();
    waitsMs.sort((a, b) => a - b);
    return {
      concurrency,
      appends: waitsMs.length,
      appendsPerSecond: Math.round((waitsMs.length / tookMs) * 1000),
      writes: counted.count(),
      p50Ms: at(waitsMs, 0.5),
      p99Ms: at(waitsMs, 0.99),
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

function recordsOf(caller: number, epoch: number): readonly GroupRecord[] {
  const groupId = `group-${caller}`;
  const tasks = [{ subtopologyId: '0', partitions: [0, 1, 2, 3, 4, 5, 6, 7] }];
  return [
    {
      type: 'targetMember',
      groupId,
      memberId: 'Zm9yIG1lYXN1cmluZyBvbg',
      value: { active: tasks, standby: [], warmup: [] },
    },
    {
      type: 'targetMetadata',
      groupId,
      value: { assignmentEpoch: epoch, assignmentTimestampMs: 0 },
    },
  ];
}

async function sumOfEpochs(log: LevelLog): Promise<number> {
  let sum = 0;
  const add = (record: GroupRecord) => {
    if (record.type === 'targetMetadata') sum += record.value?.assignmentEpoch ?? 0;
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

function at(sorted: readonly number[], share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return Math.round(value * 1000) / 1000;
}

if (process.argv[1] === import.meta.filename) {
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown CPU'} x ${cpus().length}`);
  for (const [concurrency, appendsEach] of [
    [1, 2000],
    [10, 1000],
    [1000, 100],
  ] as const) {
    console.log(JSON.stringify(await benchStore(concurrency, appendsEach)));
  }
}
