import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HistoryDrawer } from '../differential/draw-history.ts';
import { ENDINGS, EXPLANATIONS, NOT_ASKED } from '../differential/explained.ts';
import type { Fields, Step } from '../differential/history.ts';
import { type Outcome, playHistory, scriptOf } from '../differential/play-history.ts';
import { openServers, type ServersUnderTest } from '../differential/recorded-scene.ts';
import { shrinkHistory } from '../differential/shrink-history.ts';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { type RealBroker, startKafka, whyNoOracle } from '../support/oracle.ts';

/** How many histories are played; many by hand, a few each time. */
const HISTORIES = Number(process.env['TEST_DIFFERENTIAL'] ?? 12);
const FIRST_SEED = Number(process.env['TEST_SEED'] ?? 1);
const STEPS = 30;
/** The histories after an early end have seeds of their own, so far away. */
const SEEDS_APART = 1_000_000;
/** How often a history that parts is played again while it is being shortened. */
const SHRINK_TRIES = 60;
/** Faults are worth reading up to here; after that something is broken. */
const PARTINGS_MAX = 20;

/** No answer depends on how long a step takes: what waits is over at once, what runs out does not. */
const SETTINGS = {
  'group.streams.initial.rebalance.delay.ms': 0,
  'group.streams.assignment.interval.ms': 0,
  'group.streams.max.size': 4,
};

describe(`${HISTORIES} random histories from seed ${FIRST_SEED}: Headgate (profile kafka) and Apache Kafka 4.4.0`, function () {
  this.timeout(60_000 + HISTORIES * 30_000);
  const folder = mkdtempSync(join(tmpdir(), 'headgate-differential-'));
  let kafka: RealBroker | undefined;
  let under: ServersUnderTest | undefined;

  before(async function () {
    const why = whyNoOracle();
    if (why !== undefined) {
      console.log(`      skipped: ${why}`);
      this.skip();
    }
    kafka = await startKafka('4.4.0', SETTINGS);
    const settings = Object.entries({ ...SETTINGS, 'protocol.profile': 'kafka' });
    const headgate = HeadgateProcess.servePlainly(
      join(folder, 'data'),
      ...settings.flatMap(([key, value]) => ['--set', `${key}=${value}`]),
    );
    const [host = '', port] = kafka.address.split(':');
    under = await openServers({ host, port: Number(port) }, await headgate.ready());
  });

  after(async () => {
    under?.close();
    await HeadgateProcess.endAll('SIGTERM');
    await kafka?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are answered alike, but for what is explained', async () => {
    if (under === undefined) throw new Error('The servers are not open');
    const steps = new Map<string, number>();
    const explained = new Map<string, number>();
    const told = new Map<string, number>();
    const partings: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
      // What ends early is followed by another history, so that every seed has its steps.
      for (let left = STEPS, part = 0; left > 0 && partings.length < PARTINGS_MAX; part++) {
        const from = seed + part * SEEDS_APART;
        const { outcome, drawer } = await playSeed(under, from, { left, steps });
        left -= outcome.steps.length;
        for (const [name, times] of outcome.explained) count(explained, name, times);
        for (const what of outcome.steps.flatMap(inShort)) count(told, what, 1);
        if (outcome.parting === undefined) continue;
        partings.push(await tell(under, drawer, outcome));
        break;
      }
    }
    report(steps, told, explained);
    for (const parting of partings) console.log(parting);
    expect(partings.length, 'histories that part').to.equal(0);
  });
});

async function playSeed(
  { servers, serves }: ServersUnderTest,
  seed: number,
  { left: stepsMax, steps }: { readonly left: number; readonly steps: Map<string, number> },
): Promise<{ outcome: Outcome; drawer: HistoryDrawer }> {
  const drawer = new HistoryDrawer(seed, serves);
  let left = stepsMax;
  const outcome = await playHistory(servers, drawer.head, {
    next: () => {
      if (left-- <= 0) return undefined;
      const { kind, step } = drawer.next();
      count(steps, kind, 1);
      return step;
    },
    learn: (step, answer) => drawer.learn(step, answer),
  });
  return { outcome, drawer };
}

/** The shortest history found that parts in the same way, as a recorded trace that real Kafka would pass. */
async function tell(
  { servers }: ServersUnderTest,
  { head }: HistoryDrawer,
  { steps, parting }: Outcome,
): Promise<string> {
  const paths = new Set(parting?.differences.map(({ path }) => path));
  let shortest: Outcome = { steps, parting, explained: new Map() };
  await shrinkHistory(
    steps,
    async (fewer) => {
      const again = await playHistory(servers, head, scriptOf(fewer));
      const found = again.parting;
      const isSame =
        found !== undefined &&
        found.at === fewer.length - 1 &&
        found.differences.some(({ path }) => paths.has(path));
      if (isSame) shortest = again;
      return isSame;
    },
    SHRINK_TRIES,
  );
  const { members, topologies, ...rest } = head;
  const text = JSON.stringify(shortest.steps);
  const used = (name: string) => name === 'default' || text.includes(`"${name}"`);
  const kept = <T>(of: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => used(name)));
  const trace = { ...rest, topologies: kept(topologies), members: kept(members) };
  return [
    `--- seed ${head.seed}, ${shortest.steps.length} of ${steps.length} steps`,
    ...(shortest.parting?.differences ?? []).map(
      ({ path, expected, got }) =>
        `    ${path}: Kafka ${JSON.stringify(expected)}, Headgate ${JSON.stringify(got)}`,
    ),
    JSON.stringify({ ...trace, steps: shortest.steps }),
  ].join('\n');
}

/** What an answer says of the histories: how heartbeats end, and in which states groups are seen. */
function inShort({ do: kind, answer }: Step): readonly string[] {
  const { errorCode = 0, groupState, status } = (answer ?? {}) as Fields;
  if (kind === 'describe' && groupState !== undefined) return [`${groupState}`];
  if (!['join', 'beat', 'ack', 'leave'].includes(kind)) return [];
  const statuses = ((status ?? []) as readonly Fields[]).map(({ statusCode }) => statusCode);
  return [`${kind} ${errorCode}`, ...statuses.map((code) => `status ${code}`)];
}

function report(
  steps: ReadonlyMap<string, number>,
  told: ReadonlyMap<string, number>,
  explained: ReadonlyMap<string, number>,
): void {
  const total = [...steps.values()].reduce((sum, times) => sum + times, 0);
  console.log(`      ${total} steps: ${listOf(steps)}`);
  console.log(`      heartbeats by error, statuses, described states: ${listOf(told)}`);
  for (const { name, reason } of [...EXPLANATIONS, ...ENDINGS]) {
    console.log(`      explained ${explained.get(name) ?? 0} times: ${name} (${reason})`);
  }
  for (const { name, reason } of NOT_ASKED) console.log(`      never asked: ${name} (${reason})`);
}

function listOf(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .map(([name, times]) => `${name} ${times}`)
    .sort()
    .join(', ');
}

function count(counts: Map<string, number>, name: string, times: number): void {
  counts.set(name, (counts.get(name) ?? 0) + times);
}
