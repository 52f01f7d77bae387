import type { Chance } from './chance.ts';
import { drawTopology, drawVariants } from './draw-topology.ts';
import type { Fields, HistoryHead } from './history.ts';

/** Members that a history may speak for. */
const ALIASES = ['A', 'B', 'C', 'D', 'E'] as const;

/** Everything that stands above the steps: topics, topologies, who the members are, settings of the group. */
export function drawHead(chance: Chance): HistoryHead {
  const main = drawTopology(chance);
  return {
    name: `seed-${chance.seed}`,
    title: `a history drawn from seed ${chance.seed}`,
    rules: [],
    seed: chance.seed,
    awaitInternalTopics: true,
    topics: { in1: chance.between(1, 4), in2: chance.between(1, 4) },
    topologies: { default: main, ...drawVariants(chance, main) },
    members: Object.fromEntries(ALIASES.map((alias) => [alias, drawMember(chance, alias)])),
    groupConfigs: drawConfigs(chance),
  };
}

/** Times are either over at once or far beyond the end of a history. */
function drawConfigs(chance: Chance): Fields {
  return chance.pick<Fields>([
    { 'streams.task.offset.interval.ms': 50000 },
    { 'streams.num.standby.replicas': 1 },
    { 'streams.num.standby.replicas': 1 },
    { 'streams.num.standby.replicas': 2 },
    { 'streams.rack.aware.assignment.tags': 'zone' },
    { 'streams.acceptable.recovery.lag': 7 },
    { 'streams.task.offset.interval.ms': 50000 },
    { 'streams.initial.rebalance.delay.ms': 600000 },
    { 'streams.assignment.interval.ms': 15000, 'streams.num.standby.replicas': 1 },
  ]);
}

function drawMember(chance: Chance, alias: string): Fields {
  return {
    processId: chance.pick(['p1', 'p2', 'p3']),
    ...(chance.percent(40) ? { instanceId: chance.percent(80) ? `i${alias}` : 'i1' } : {}),
    ...(chance.percent(20) ? { rackId: 'r1' } : {}),
    ...(chance.percent(30) ? { clientTags: drawTags(chance) } : {}),
    ...(chance.percent(30) ? { userEndpoint: drawEndpoint(chance) } : {}),
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
