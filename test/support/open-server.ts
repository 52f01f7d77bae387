import type { Dispatch, Handler, ListenerInfo } from '../../src/server/dispatch.ts';
import { createDispatch } from '../../src/server/dispatch.ts';
import type { Listener, ListenerLimits } from '../../src/server/listener.ts';
import { openListener } from '../../src/server/listener.ts';
import { apis } from '../../src/wire/apis.ts';
import { KeptLog } from './kept-log.ts';
import { ManualClock } from './manual-clock.ts';

export const TEST_LIMITS: ListenerLimits = {
  requestsInFlightMax: 100,
  requestBytesMax: 104_857_600,
  unsentBytesMax: 256 * 1024,
  idleMs: 600_000,
  frameCompletionMs: 30_000,
  connectionsMax: 1_000,
};

export type OpenServer = {
  readonly listener: Listener;
  readonly port: number;
  readonly clock: ManualClock;
  readonly log: KeptLog;
};

/** Opens a listener on a free port of the loopback, with a clock that stands still until it is told to move. */
export async function openServer(
  dispatch: (log: KeptLog) => Dispatch,
  limits: Partial<ListenerLimits> = {},
  nodeId: ListenerInfo['nodeId'] = 1,
): Promise<OpenServer> {
  const clock = new ManualClock();
  const log = new KeptLog();
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    info: ({ host, port }) => ({ nodeId, host, port }),
    dispatch: dispatch(log),
    limits: { ...TEST_LIMITS, ...limits },
    clock,
    log,
  });
  return { listener, port: listener.port, clock, log };
}

/** A dispatch that serves every API of the codec in all its versions, through these handlers. */
export function serving(handlers: ReadonlyMap<number, Handler>): (log: KeptLog) => Dispatch {
  const versions = new Map(
    Object.values(apis).map((api) => [api.key, { min: api.minVersion, max: api.maxVersion }]),
  );
  return (log) => createDispatch({ handlers, versions: () => versions, log });
}

/** Lets everything that is at hand in this process run, sockets included, until `condition` holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
