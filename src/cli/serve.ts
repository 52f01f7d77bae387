import type { Config } from '../config/config.ts';
import { formatHostPort } from '../config/host-port.ts';
import { VERSION } from '../version.ts';
import type { CommandIo, Started } from './command-io.ts';
import { type ConfigFlags, loadConfig } from './load-config.ts';
import { aborted, stopSignal } from './stop-signal.ts';

/** What is cut off after `stop.timeout.ms` has this long to close; then the process ends, whatever it hangs in. */
const CLOSING_MS = 5_000;

/**
 * Runs a coordinator until it is told to stop. Says on standard output, in one line, when clients can connect; the first
 * request to stop finishes what was taken, also while it still starts, the second ends at once, and so does
 * a stop that hangs: `stop.timeout.ms` and 5 s after the first the process ends with 1. Whatever happens, what was started is
 * stopped.
 */
export async function serve(flags: ConfigFlags, io: CommandIo): Promise<void> {
  const { config, warnings } = loadConfig(flags, io);
  const { log, flush } = io.createLogger(config.log, io);
  for (const warning of warnings) log.warn({}, warning);
  const signal = stopSignal(io);
  let disarm = () => {};
  signal.addEventListener('abort', () => {
    log.info({ timeoutMs: config.stopTimeoutMs }, 'Stopping: once more ends at once');
    const limitMs = config.stopTimeoutMs + CLOSING_MS;
    disarm = io.after(limitMs, () => {
      flush();
      io.err(`Cannot stop within ${limitMs} ms: ended without it\n`);
      io.exit(1);
    });
  });
  try {
    const started = await io.startCoordinator(config, { log, signal });
    try {
      io.out(`Headgate ready on ${formatHostPort(started.address)}\n`);
      log.info(placesOf(config, started), 'Ready');
      if (io.isTerminal) io.err(whatNext(config, started));
      await aborted(signal);
    } finally {
      await started.stop();
    }
    log.info({}, 'Stopped');
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    log.info({}, 'Stopped before clients could be served');
  } finally {
    disarm();
    flush();
  }
}

function placesOf(
  { store, upstream, behaviour }: Config,
  { address, adminAddress, nodeAddresses }: Started,
) {
  const nodes = [...nodeAddresses].map(([id, place]) => `${id}=${formatHostPort(place)}`);
  return {
    version: VERSION,
    address: formatHostPort(address),
    admin: adminAddress === undefined ? 'off' : formatHostPort(adminAddress),
    store: store.kind === 'memory' ? 'memory' : store.dataDir,
    upstream: upstream?.bootstrapServers.map(formatHostPort).join(',') ?? 'none',
    ...(nodes.length === 0 ? {} : { nodes: nodes.join(',') }),
    profile: behaviour.profile,
  };
}

function whatNext(config: Config, { address, adminAddress }: Started): string {
  const kept =
    config.store.kind === 'memory' ? 'in memory, gone at the end' : `in ${config.store.dataDir}`;
  const place = formatHostPort(address);
  const lines = [
    '',
    `  Kafka clients   bootstrap.servers=${place}`,
    `  groups          ${kept}`,
    ...(adminAddress === undefined
      ? []
      : [`  metrics, state  http://${formatHostPort(adminAddress)}/`]),
    ...(config.upstream === undefined
      ? ['  data            none here: --upstream HOST:PORT puts Headgate in front of a cluster']
      : []),
    '',
    '  Try next, in another terminal:',
    `    headgate groups list --bootstrap ${place}`,
    '    headgate demo',
    '    headgate visualize group --out group.svg',
    '',
  ];
  return lines.map((line) => `${line}\n`).join('');
}
