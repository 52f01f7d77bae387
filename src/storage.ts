import { randomBytes } from 'node:crypto';
import type { JournalPort, Log, RecordLog } from '../actors/ports.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { ConfigOverrides } from './store/config-overrides.ts';
import { type Identity, keepIdentity, keepUpstream } from './store/identity.ts';
import { KeptAddresses } from './store/kept-addresses.ts';
import type { KeyValues } from './store/key-values.ts';
import { type JournalReader, LevelJournal } from './store/level-journal.ts';
import { LevelKeyValues } from './store/level-key-values.ts';
import { LevelLog } from './store/level-log.ts';
import { MemoryKeyValues } from './store/memory-key-values.ts';

/** Everything that is kept, on one engine of keys and values. */
export type Storage = {
  readonly keyValues: KeyValues;
  readonly recordLog: RecordLog;
  readonly journal: JournalPort & JournalReader;
  readonly overrides: ConfigOverrides;
  readonly identity: Identity;
  readonly addresses: KeptAddresses;
  /** Rejects with `StoreError` when the store goes with another cluster. */
  keepUpstream(clusterId: string): Promise<void>;
  close(): Promise<void>;
};

/** Opens the store that the settings name. Rejects with `StoreError`, whose message is one clear line. */
export async function openStorage(config: Config, log: Log): Promise<Storage> {
  const keyValues =
    config.store.kind === 'memory'
      ? new MemoryKeyValues()
      : await LevelKeyValues.open({
          folder: config.store.dataDir,
          shardCount: config.shards.count,
          clock: systemClock,
        });
  try {
    const identity = await keepIdentity(keyValues, {
      random: randomBytes,
      mode: config.upstream === undefined ? 'standalone' : 'gateway',
      place: config.store.dataDir,
      ...config.identity,
    });
    const recordLog = new LevelLog(keyValues, systemClock);
    const bounds = config.journal;
    const journal = await LevelJournal.open({ keyValues, clock: systemClock, log, bounds });
    return {
      keyValues,
      recordLog,
      journal,
      overrides: await ConfigOverrides.open(keyValues),
      identity,
      addresses: new KeptAddresses(keyValues),
      keepUpstream: (clusterId) =>
        keepUpstream(keyValues, { clusterId, place: config.store.dataDir }),
      async close() {
        await journal.close();
        await recordLog.close();
        await keyValues.close();
      },
    };
  } catch (cause) {
    await keyValues.close();
    throw cause;
  }
}
