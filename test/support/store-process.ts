import { writeSync } from 'node:fs';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import { LevelLog } from '../../src/store/level-log.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { batchOf, epochRecord } from './group-records.ts';
import { promptly } from './promptly.ts';

/**
 * A process of its own around a store, for tests that kill, lock out or starve it. Says on standard output, at once,
 * what it was answered.
 *
 *   open FOLDER          opens the folder: `opened`, or the fault and the message
 *   storm FOLDER SHARDS  appends batches to all shards at once until killed: `SHARD EPOCH` for each that is durable
 *   starve FOLDER        appends until one is refused, and then some: `kept EPOCH` or `lost EPOCH`
 */

/** What one batch of a storm writes: all of it bears the same epoch. */
export const stormGroups = ['a', 'b', 'c'];

const shardCount = 50;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function open(folder: string): Promise<void> {
  try {
    await LevelKeyValues.open({ folder, shardCount });
    say('opened');
  } catch (thrown) {
    say(thrown instanceof StoreError ? `${thrown.fault} ${thrown.message}` : String(thrown));
  }
}

async function storm(folder: string, shards: number): Promise<void> {
  const log = new LevelLog(await LevelKeyValues.open({ folder, shardCount }), promptly);
  const appendForever = async (shard: number): Promise<void> => {
    let epoch = 0;
    await log.load(
      shard,
      (record) => {
        if (record.type === 'targetMetadata') epoch = record.value?.assignmentEpoch ?? epoch;
      },
      () => undefined,
    );
    for (;;) {
      epoch++;
      const records = stormGroups.map((groupId) => epochRecord(groupId, epoch));
      await log.append([batchOf(shard, ...records)]);
      say(`${shard} ${epoch}`);
    }
  };
  await Promise.all(Array.from({ length: shards }, (_, shard) => appendForever(shard)));
}

async function starve(folder: string): Promise<void> {
  const log = new LevelLog(await LevelKeyValues.open({ folder, shardCount }), promptly);
  const metadata = 'x'.repeat(3_000);
  const append = (epoch: number) =>
    log
      .append([
        batchOf(0, epochRecord('a', epoch), {
          type: 'offsetCommit',
          groupId: 'a',
          topic: 'in',
          partition: 0,
          value: {
            offset: BigInt(epoch),
            leaderEpoch: -1,
            metadata,
            commitTimestampMs: 0,
            expireTimestampMs: -1,
            topicId: 'AAAAAAAAAAAAAAAAAAAAAA',
          },
        }),
      ])
      .then(
        () => {
          say(`kept ${epoch}`);
          return true;
        },
        () => {
          say(`lost ${epoch}`);
          return false;
        },
      );
  let epoch = 1;
  while (await append(epoch)) epoch++;
  for (const more of [1, 2, 3]) await append(epoch + more);
}

const [, program, mode, folder = '', shards = '0'] = process.argv;
if (program === import.meta.filename) {
  if (mode === 'open') await open(folder);
  if (mode === 'storm') await storm(folder, Number(shards));
  if (mode === 'starve') await starve(folder);
}
