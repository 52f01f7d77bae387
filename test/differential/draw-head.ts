import type { Chance } from './chance.ts';
import { drawTopology, drawVariants } from './draw-topology.ts';
import type { Fields, HistoryHead } from './history.ts';

/** Members that a history may speak for, each with the id that its instance has in a later life. */
const ALIASES = { A: 'F', B: 'G', C: 'H', D: 'I', E: 'J' } as const;

/** Everything that stands above the steps: topics, topologies, who the members are, settings of the group. */
export function drawHead(chance: Chance): HistoryHead {
  const main = drawTopology(chance);
  // Where a source is missing nearly every answer to a member with an endpoint is a failure, so some do without.
  const endpoints = chance.percent(50);
  return {
    name: `seed-${chance.seed}`,
    title: `a history drawn from seed ${chance.seed}`,
    rules: [],
    seed: chance.seed,
    awaitInternalTopics: true,
    topics: drawTopics(chance),
    topologies: { default: main, ...drawVariants(chance, main) },
    members: Object.fromEntries(
      Object.entries(ALIASES).flatMap(([alias, later]) =>
        drawLives(chance, { alias, later, endpoints }),
      ),
    ),
    groupConfigs: drawConfigs(chance),
  };
}

/** Sources, and now and then an internal topic that is there already, as wide as it happens to be. */
function drawTopics(chance: Chance): Readonly<Record<string, number>> {
  const internal = chance.percent(25) ? chance.some(['r1', 'store0a', 'store1a'], 50) : [];
  const names = ['in1', 'in2', ...internal];
  const width = chance.between(1, 4);
  const isEven = chance.percent(50);
  return Object.fromEntries(names.map((name) => [name, isEven ? width : chance.between(1, 4)]));
}

/** Times are either over at once or far beyond the end of a history; for the assignment interval see NOT_ASKED. */
function drawConfigs(chance: Chance): Fields {
  return chance.pick<Fields>([
    { 'streams.task.offset.interval.ms': 50000 },
    { 'streams.num.standby.replicas': 1 },
    { 'streams.num.standby.replicas': 1 },
    { 'streams.num.standby.replicas': 2 },
    { 'streams.rack.aware.assignment.tags': 'zone' },
    { 'streams.acceptable.recovery.lag': 7 },
    { 'streams.task.offset.interval.ms': 50000 },
    { 'streams.num.standby.replicas': 2, 'streams.heartbeat.interval.ms': 6000 },
    { 'streams.num.standby.replicas': 1, 'streams.assignor.name': 'sticky' },
    { 'streams.session.timeout.ms': 50000 },
    { 'streams.initial.rebalance.delay.ms': 600000 },
  ]);
}

/** A member; a static one also as it comes back, most often with the same fields. */
function drawLives(
  chance: Chance,
  { alias, later, endpoints }: { alias: string; later: string; endpoints: boolean },
): readonly (readonly [alias: string, fields: Fields])[] {
  const fields = drawFields(chance, endpoints);
  if (!chance.percent(40)) return [[alias, fields]];
  const instanceId = `i${alias}`;
  const laterFields = chance.percent(70) ? fields : drawFields(chance, endpoints);
  return [
    [alias, { ...fields, instanceId }],
    [later, { ...laterFields, instanceId }],
  ];
}

function drawFields(chance: Chance, endpoints: boolean): Fields {
  return {
    processId: chance.pick(['p1', 'p2', 'p3']),
    ...(chance.percent(20) ? { rackId: 'r1' } : {}),
    ...(chance.percent(30) ? { clientTags: drawTags(chance) } : {}),
    ...(endpoints && chance.percent(50) ? { userEndpoint: drawEndpoint(chance) } : {}),
    ...(chance.percent(40) ? { iq: true } : {}),
    ...(chance.percent(25) ? { version: 0 } : {}),
  };
}

export function drawTags(chance: Chance): readonly Fields[] {
  return chance
    .some(['zone', 'rack'], 70)
    .map((key) => ({ key, value: chance.pick(['one', 'two']) }));
}

export function drawEndpoint(chance: Chance): Fields {
  return { host: 'localhost', port: chance.pick([7001, 7002]) };
}
