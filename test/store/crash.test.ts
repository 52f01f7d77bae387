import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { GroupRecord } from '../../machines/records.ts';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import { LevelLog } from '../../src/store/level-log.ts';
import { promptly } from '../support/promptly.ts';
import { stormGroups } from '../support/store-process.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const storeProcess = fileURLToPath(new URL('../support/store-process.js', import.meta.url));
const SHARDS = 8;

/** Kills a storm with SIGKILL once it has said `lineCount` lines; gives all it said, by shard the last epoch. */
async function killedStorm(
  folder: string,
  lineCount: number,
): Promise<ReadonlyMap<number, number>> {
  const child = spawn(process.execPath, [storeProcess, 'storm', folder, String(SHARDS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const answered = new Map<number, number>();
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [shard = Number.NaN, epoch = Number.NaN] = line.split(' ').map(Number);
    answered.set(shard, epoch);
    lines++;
    if (lines === lineCount) child.kill('SIGKILL');
  }
  expect(await exited).to.deep.equal([null, 'SIGKILL']);
  return answered;
}

async function kept(folder: string, shard: number): Promise<GroupRecord[]> {
  const keyValues = await LevelKeyValues.open({ folder, shardCount: 50 });
  const records: GroupRecord[] = [];
  await new LevelLog(keyValues, promptly).load(
    shard,
    (record) => records.push(record),
    () => expect.fail('no unknown records here'),
  );
  await keyValues.close();
  return records;
}

function epochsOf(records: readonly GroupRecord[]): number[] {
  return records.flatMap((record) =>
    record.type === 'targetMetadata' ? [record.value?.assignmentEpoch ?? Number.NaN] : [],
  );
}

describe('LevelLog and the end of its process', () => {
  it('keeps every append it answered, and batches whole, through ten kills (BA-1)', () =>
    inTemporaryFolder(async (folder) => {
      for (const lineCount of [1, 2, 3, 10, 47, 100, 333, 400, 901, 1000]) {
        const answered = await killedStorm(folder, lineCount);
        expect(answered.size).to.be.greaterThan(0);
        for (const [shard, epoch] of answered) {
          const epochs = epochsOf(await kept(folder, shard));
          expect(epochs).to.deep.equal(stormGroups.map(() => epochs[0]));
          expect(epochs[0]).to.be.at.least(epoch);
        }
      }
    })).timeout(60_000);
});

describe('LevelKeyValues and a write that the disk refuses', () => {
  it('keeps what it answered before and after, and nothing of what it refused (BA-3)', function () {
    if (process.platform === 'win32') this.skip();
    return inTemporaryFolder(async (folder) => {
      const command = `ulimit -f 100; exec "${process.execPath}" "${storeProcess}" starve "${folder}"`;
      const { stdout } = await promisify(execFile)('sh', ['-c', command]);
      const said = stdout.trim().split('\n');
      const refusals = said.filter((line) => line.startsWith('lost'));
      expect(refusals).to.have.length(1);
      expect(said.slice(-4).map((line) => line.split(' ')[0])).to.deep.equal([
        'lost',
        'kept',
        'kept',
        'kept',
      ]);
      const last = Number(said.at(-1)?.split(' ')[1]);
      expect(epochsOf(await kept(folder, 0))).to.deep.equal([last]);
    });
  });
});
