import { ClientConnection } from '../../src/client/connection.ts';
import { resolveConfig } from '../../src/config/resolve.ts';
import { type RunningCoordinator, startCoordinator } from '../../src/coordinator.ts';
import { KeptLog } from './kept-log.ts';

/** A whole standalone coordinator in this process, and a client connected to it. */
export type OpenCoordinator = {
  readonly running: RunningCoordinator;
  readonly connection: ClientConnection;
  readonly log: KeptLog;
  /** What the admin server says, as text. */
  get(path: string): Promise<string>;
  /** Stops the coordinator; its folder can be opened again. */
  close(): Promise<void>;
};

const open = new Set<OpenCoordinator>();

/** Closes what a failed test left open. */
export async function closeCoordinators(): Promise<void> {
  for (const each of open) await each.close();
}

/** Opens a coordinator with its store in `folder`, on free ports and quick to hand out tasks; `settings` win over these. */
export async function openCoordinator(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
  parts: Omit<Parameters<typeof startCoordinator>[1], 'log'> = {},
): Promise<OpenCoordinator> {
  const { config } = resolveConfig({
    flags: {
      port: '0',
      'admin.port': '0',
      'data.dir': folder,
      'assignor.threads': '1',
      'assignor.answer.wait.ms': '5000',
      'group.streams.initial.rebalance.delay.ms': '0',
      'group.streams.assignment.interval.ms': '0',
      ...settings,
    },
  });
  const log = new KeptLog();
  const running = await startCoordinator(config, { log, ...parts });
  const connection = await ClientConnection.open(running.address, { clientId: 'scripted' });
  const { host, port } = running.adminAddress ?? { host: '', port: 0 };
  const opened: OpenCoordinator = {
    running,
    connection,
    log,
    get: async (path) => (await fetch(`http://${host}:${port}${path}`)).text(),
    async close() {
      open.delete(opened);
      connection.close();
      await running.stop();
    },
  };
  open.add(opened);
  return opened;
}

/** Creates topics by partition count. */
export async function createTopics(
  connection: ClientConnection,
  partitionCounts: Readonly<Record<string, number>>,
): Promise<void> {
  const { topics } = await connection.request('CreateTopics', {
    topics: Object.entries(partitionCounts).map(([name, numPartitions]) => ({
      name,
      numPartitions,
      replicationFactor: 1,
    })),
    timeoutMs: 5_000,
  });
  const refused = topics.filter(({ errorCode }) => errorCode !== 0);
  if (refused.length > 0) throw new Error(`Cannot create topics: ${JSON.stringify(refused)}`);
}
