import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../support/oracle.ts';
import type { Difference } from './explained.ts';
import type { HistoryHead, Step } from './history.ts';
import type { Scene, Servers } from './play-history.ts';

/** What is used of the runner of recorded traces, which plays steps over the oracle's bridge to the wire protocol. */
type Runner = {
  readonly Bridge: new (server: { host: string; port: number }) => Bridge;
  readonly Play: new (parts: { trace: HistoryHead; bridge: Bridge }) => RecordedPlay;
  readonly differences: (
    expected: unknown,
    got: unknown,
    how: { exactMessage: boolean; countTasks: boolean },
  ) => readonly Difference[];
  readonly awaitCoordinator: (server: { host: string; port: number }) => Promise<void>;
};
type Bridge = {
  call(request: Record<string, unknown>): Promise<{ body?: Record<string, unknown> }>;
  close(): void;
};
type RecordedPlay = {
  setUp(): Promise<void>;
  step(step: Step): Promise<unknown>;
  tearDown(): Promise<void>;
};

export type Address = { readonly host: string; readonly port: number };
export type ServersUnderTest = {
  readonly servers: Servers;
  /** Whether our server says that it serves an API. */
  readonly serves: (api: string) => boolean;
  close(): void;
};

/** Opens one bridge to each server; many histories go over it, one after the other. */
export async function openServers(real: Address, ours: Address): Promise<ServersUnderTest> {
  const runner = await loadRunner();
  await Promise.all([runner.awaitCoordinator(real), runner.awaitCoordinator(ours)]);
  const bridges = { real: new runner.Bridge(real), ours: new runner.Bridge(ours) };
  const sceneOn =
    (bridge: Bridge) =>
    (head: HistoryHead): Scene => {
      const play = new runner.Play({ trace: head, bridge });
      return {
        setUp: () => play.setUp(),
        step: (step) => play.step(step),
        dispose: () => play.tearDown(),
      };
    };
  const served = await servedKeys(bridges.ours);
  return {
    servers: {
      real: sceneOn(bridges.real),
      ours: sceneOn(bridges.ours),
      compare: (_, expected, got) =>
        runner.differences(expected, got, { exactMessage: false, countTasks: false }),
    },
    serves: (api) => served.has(API_KEYS[api] ?? -1),
    close: () => {
      bridges.real.close();
      bridges.ours.close();
    },
  };
}

async function loadRunner(): Promise<Runner> {
  const parts = await Promise.all(
    ['bridge', 'play', 'answers', 'servers'].map((name) => {
      const file = join(projectRoot, 'test', 'recorded', 'runner', `${name}.mjs`);
      return import(pathToFileURL(file).href) as Promise<Partial<Runner>>;
    }),
  );
  return Object.assign({}, ...parts) as Runner;
}

async function servedKeys(bridge: Bridge): Promise<ReadonlySet<number>> {
  const { body } = await bridge.call({ api: 'API_VERSIONS', version: 0, body: {} });
  const keys = body?.['apiKeys'] as readonly { apiKey: number }[] | undefined;
  if (keys === undefined) throw new Error('Cannot read ApiVersions: there is no list of keys');
  return new Set(keys.map(({ apiKey }) => apiKey));
}

/** Numbers of the APIs that a history may use, by Kafka's name. */
const API_KEYS: Readonly<Record<string, number>> = {
  OFFSET_COMMIT: 8,
  OFFSET_FETCH: 9,
  JOIN_GROUP: 11,
  HEARTBEAT: 12,
  LEAVE_GROUP: 13,
  SYNC_GROUP: 14,
  DESCRIBE_GROUPS: 15,
  LIST_GROUPS: 16,
  CREATE_TOPICS: 19,
  DELETE_TOPICS: 20,
  DESCRIBE_CONFIGS: 32,
  CREATE_PARTITIONS: 37,
  DELETE_GROUPS: 42,
  INCREMENTAL_ALTER_CONFIGS: 44,
  OFFSET_DELETE: 47,
  CONSUMER_GROUP_HEARTBEAT: 68,
  CONSUMER_GROUP_DESCRIBE: 69,
  SHARE_GROUP_HEARTBEAT: 76,
  STREAMS_GROUP_DESCRIBE: 89,
  STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: 93,
};
