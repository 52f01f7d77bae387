import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { ShardStatus } from '../../actors/group-coordinator.ts';
import type { RuntimeMetrics } from '../../actors/ports.ts';
import type { ModuleFaultName } from '../../machines/model/assignors.ts';
import type { GroupState } from '../../machines/model/group.ts';
import type { ShardState } from '../../machines/shard-machine.ts';
import { VERSION } from '../version.ts';
import { type ApiName, apiByKey } from '../wire/apis.ts';
import { errorName } from '../wire/errors.ts';
import { SecondsHistogram, type SecondsSeries } from './seconds-histogram.ts';
import { targetMetrics } from './target-metrics.ts';

/** What the server reports: the methods of its own port of the same name. */
type ServerNumbers = {
  connectionOpened(): void;
  connectionClosed(): void;
  connectionRefused(): void;
  /** Ms from the whole request taken to its answer ready. */
  requestAnswered(apiKey: number, ms: number): void;
  /** An answer made here carries this error code; once for each code of an answer. */
  errorAnswered(api: ApiName, code: number): void;
};

/** The numbers of one process and their text. */
export type Metrics = {
  readonly runtime: RuntimeMetrics;
  readonly server: ServerNumbers;
  /** The process of a user's own assignor ended by itself while nothing was asked of it. */
  readonly moduleEndedIdle: (assignor: string, fault: ModuleFaultName) => void;
  /** Says where gauges about groups come from; they are read at every scrape. */
  watchShards(shards: () => readonly ShardStatus[]): void;
  /** As {@link watchShards}, of a gateway's groups upstream: how many are held, or why they are not. */
  watchPlaceholders(counts: () => ReadonlyMap<PlaceholderState, number>): void;
  readonly contentType: string;
  /** The text that Prometheus scrapes. */
  text(): Promise<string>;
};

/** What became of a gateway's hold on a group upstream. */
type PlaceholderState = 'joined' | 'conflict' | 'forbidden' | 'unavailable' | 'fenced';

const PLACEHOLDER_STATES: readonly PlaceholderState[] = [
  'joined',
  'conflict',
  'forbidden',
  'unavailable',
  'fenced',
];
/** Groups by protocol, as ListGroups has their types. Of consumer and share groups there is none here. */
const PROTOCOLS = ['classic', 'consumer', 'share', 'streams'] as const;
/** Always shown, with 0 where there is none (MT-3). */
const GROUP_STATES: readonly GroupState[] = [
  'Empty',
  'NotReady',
  'Assigning',
  'Reconciling',
  'Stable',
  'Dead',
];
const SHARD_STATES: readonly ShardState[] = ['initial', 'loading', 'active', 'failed', 'closed'];

/**
 * Makes the table of metrics: Kafka's names in snake case, times in seconds (records-and-configs 10). A meter is its
 * counter; rates are the reader's to take.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'build_info',
    help: 'Always 1; the version of this build is its label',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1);
  let shards: () => readonly ShardStatus[] = () => [];
  // One look per scrape: it counts every group, and all gauges show the same moment.
  let seen: readonly ShardStatus[] = [];
  addShardGauges(registry, () => seen);
  return {
    runtime: runtimeMetrics(registry),
    server: serverNumbers(registry),
    moduleEndedIdle: idleEndCounter(registry),
    watchShards: (source) => {
      shards = source;
    },
    watchPlaceholders: (counts) => addPlaceholderGauge(registry, counts),
    contentType: registry.contentType,
    text: () => {
      seen = shards();
      return registry.metrics();
    },
  };
}

function idleEndCounter(registry: Registry): Metrics['moduleEndedIdle'] {
  const ends = new Counter({
    name: 'assignor_idle_end_count',
    help: "Processes of a user's own assignor that ended while nothing was asked of them, by assignor and reason",
    labelNames: ['assignor', 'reason'],
    registers: [registry],
  });
  return (assignor, reason) => ends.inc({ assignor, reason });
}

function addPlaceholderGauge(
  registry: Registry,
  counts: () => ReadonlyMap<PlaceholderState, number>,
): void {
  new Gauge({
    name: 'placeholder_count',
    help: 'Groups of a gateway by whether they are held upstream',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const now = counts();
      for (const state of PLACEHOLDER_STATES) this.set({ state }, now.get(state) ?? 0);
    },
  });
}

function addShardGauges(registry: Registry, shards: () => readonly ShardStatus[]): void {
  const sum = (count: (status: ShardStatus) => number) =>
    shards().reduce((total, status) => total + count(status), 0);
  const registers = [registry];
  const single = (name: string, help: string, count: (status: ShardStatus) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(sum(count));
      },
    });

  new Gauge({
    name: 'group_count',
    help: 'Groups held, by protocol',
    labelNames: ['protocol'],
    registers,
    collect() {
      const counts: Record<string, number> = {
        streams: sum(({ groups }) => groups),
        classic: sum(({ simpleGroups }) => simpleGroups),
      };
      for (const protocol of PROTOCOLS) this.set({ protocol }, counts[protocol] ?? 0);
    },
  });
  new Gauge({
    name: 'streams_group_count',
    help: 'Streams groups by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of GROUP_STATES) {
        this.set(
          { state },
          sum(({ groupsByState }) => groupsByState[state]),
        );
      }
    },
  });
  new Gauge({
    name: 'num_partitions',
    help: 'Shards by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of SHARD_STATES)
        this.set(
          { state },
          sum((s) => Number(s.state === state)),
        );
    },
  });
  single('streams_group_member_count', 'Members of streams groups', ({ members }) => members);
  const offsetsHelp = 'Committed offsets held here; those of a gateway lie upstream, uncounted';
  single('offset_count', offsetsHelp, ({ committedOffsets }) => committedOffsets);
  single('event_queue_size', 'Messages waiting in mailboxes', ({ queued }) => queued);
}

/** A counter whose hot side is one addition. */
function meter(registry: Registry, name: string, help: string): (count?: number) => void {
  let total = 0;
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(total);
    },
  });
  return (count = 1) => {
    total += count;
  };
}

function histogram(
  registry: Registry,
  name: string,
  family: { help: string; labelName?: string },
): SecondsHistogram {
  const made = new SecondsHistogram(name, family);
  // A registry needs `name` and `get()` alone; prom-client types the classes it ships.
  registry.registerMetric(made as unknown as Metric);
  return made;
}

function runtimeMetrics(registry: Registry): RuntimeMetrics {
  const seconds = (name: string, help: string) => histogram(registry, name, { help }).labelled();
  const ran = seconds('event_processing_time_seconds', "Time of a turn of a shard's mailbox");
  const committed = seconds('event_purgatory_time_seconds', 'Time from applied to committed');
  const loaded = seconds('partition_load_time_seconds', 'Time to load a shard');
  const runs = histogram(registry, 'background_processing_time_seconds', {
    help: 'Time of an assignment on its thread, or in all where that is not known, by what became of it',
    labelName: 'outcome',
  });
  const runsBy = {
    assigned: runs.labelled('assigned'),
    failed: runs.labelled('failed'),
  };
  const queued = seconds(
    'background_queue_time_seconds',
    'Time of an assignment before and after its thread',
  );
  const standIns = new Counter({
    name: 'assignor_fallback_count',
    help: "Assignments by one of Headgate's assignors in place of a user's own, by that one and what was wrong with it",
    labelNames: ['assignor', 'reason'],
    registers: [registry],
  });
  return {
    rebalanced: meter(
      registry,
      'streams_group_rebalance_count',
      'Epochs of streams groups raised by heartbeats',
    ),
    offsetsCommitted: meter(registry, 'offset_commit_count', 'Offsets in accepted commits'),
    offsetsDeleted: meter(registry, 'offset_deletion_count', 'Offsets deleted by request'),
    offsetsExpired: meter(registry, 'offset_expiration_count', 'Offsets expired'),
    processed: (runMs) => ran.observeMs(runMs),
    committed: (waitMs) => committed.observeMs(waitMs),
    loaded: (ms) => loaded.observeMs(ms),
    assignorStoodIn: ({ insteadOf, fault }) => standIns.inc({ assignor: insteadOf, reason: fault }),
    assignmentRun: (outcome, ms, threadMs) => {
      runsBy[outcome].observeMs(threadMs ?? ms);
      if (threadMs !== undefined) queued.observeMs(Math.max(0, ms - threadMs));
    },
    targetInstalled: targetMetrics(registry),
  };
}

function serverNumbers(registry: Registry): ServerNumbers {
  let open = 0;
  new Gauge({
    name: 'connection_count',
    help: 'Client connections open',
    registers: [registry],
    collect() {
      this.set(open);
    },
  });
  const opened = meter(registry, 'connection_creation_count', 'Client connections opened');
  const refused = meter(registry, 'connection_refused_count', 'Client connections refused');
  const requests = histogram(registry, 'request_time_seconds', {
    help: 'Time from a whole request to its answer, by API',
    labelName: 'api',
  });
  const errors = new Counter({
    name: 'request_error_count',
    help: 'Answers of this process with an error, by API and error; one answer counts once for each',
    labelNames: ['api', 'error'],
    registers: [registry],
  });
  const byKey = new Map<number, SecondsSeries>();
  const seriesOf = (apiKey: number) => {
    const known = byKey.get(apiKey);
    if (known !== undefined) return known;
    // Keys come from the wire: those without a name share one series, so that the set stays closed.
    const name = apiByKey(apiKey)?.name;
    const series = requests.labelled(name ?? 'other');
    if (name !== undefined) byKey.set(apiKey, series);
    return series;
  };
  return {
    connectionOpened: () => {
      open++;
      opened();
    },
    connectionClosed: () => {
      open--;
    },
    connectionRefused: () => refused(),
    requestAnswered: (apiKey, ms) => seriesOf(apiKey).observeMs(ms),
    errorAnswered: (api, code) => errors.inc({ api, error: errorName(code) }),
  };
}
