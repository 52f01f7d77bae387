import type { ChartModel, ChartReaction, ChartState, ChartWay } from './chart-model.ts';

/** From how many states on an event that means the same in all of them is drawn once. */
const SHARED_BY_MIN = 4;

/**
 * A chart arranged to be looked at. Drawn state by state, a chart whose states all react alike is a tangle (five states
 * with five ways each); here such states stand in one frame, and what they share leaves the frame once.
 */
export type ChartDrawing = {
  readonly model: ChartModel;
  /** The states in the frame; empty: no frame. */
  readonly framed: readonly string[];
  /** Events judged in the same order in every framed state. */
  readonly choices: readonly ChartReaction[];
  /** Ways that every framed state has, out of the frame. */
  readonly exits: readonly DrawnEdge[];
  /** What single states do, parallel ways in one edge. */
  readonly edges: readonly DrawnEdge[];
};

/** `from` of an exit is the frame. */
export type DrawnEdge = {
  readonly from: string;
  readonly to: string;
  readonly labels: readonly string[];
};

/** The name of the frame in {@link DrawnEdge}. */
export const FRAME = 'frame';

/** Arranges a chart. */
export function arrangeChart(model: ChartModel): ChartDrawing {
  const shared = sharedReactions(model);
  const framed = shared[0]?.states ?? [];
  const choices: ChartReaction[] = [];
  const exits: DrawnEdge[] = [];
  const common = new Map<string, readonly ChartWay[]>();
  for (const { event, ways, states } of shared) {
    if (!sameNames(states, framed)) continue;
    common.set(event, ways);
    const [only] = ways;
    if (ways.length === 1 && only !== undefined && !framed.includes(only.target)) {
      exits.push({ from: FRAME, to: only.target, labels: [wayLabel(event, only, true)] });
    } else {
      choices.push({ event, ways });
    }
  }
  const edges = model.states.flatMap((state) =>
    ownEdges(state, framed.includes(state.name) ? common : new Map()),
  );
  return { model, framed, choices, exits: merged(exits), edges: merged(edges) };
}

type Shared = {
  readonly event: string;
  readonly ways: readonly ChartWay[];
  readonly states: readonly string[];
};

/** Reactions that enough states have, some of them perhaps behind ways of their own; the most shared first. */
function sharedReactions({ states }: ChartModel): readonly Shared[] {
  const shared = new Map<string, Shared>();
  for (const { on } of states) {
    for (const { event, ways } of on) {
      const having = states.filter((other) => endsWith(waysOf(other, event), ways));
      if (having.length < SHARED_BY_MIN) continue;
      const key = JSON.stringify([event, ways]);
      shared.set(key, { event, ways, states: having.map(({ name }) => name) });
    }
  }
  return [...shared.values()].sort((a, b) => b.states.length - a.states.length);
}

function waysOf({ on }: ChartState, event: string): readonly ChartWay[] {
  return on.find((reaction) => reaction.event === event)?.ways ?? [];
}

function endsWith(ways: readonly ChartWay[], end: readonly ChartWay[]): boolean {
  return ways.length >= end.length && sameWays(ways.slice(ways.length - end.length), end);
}

function sameWays(one: readonly ChartWay[], other: readonly ChartWay[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}

/** What is left of a state's ways when those that stand at the frame are taken off their ends. */
function ownEdges(
  { name, on }: ChartState,
  common: ReadonlyMap<string, readonly ChartWay[]>,
): readonly DrawnEdge[] {
  return on.flatMap(({ event, ways }) => {
    const own = ways.slice(0, ways.length - (common.get(event)?.length ?? 0));
    const order = common.has(event) ? ', asked first' : '';
    return own.map((way) => ({
      from: name,
      to: way.target,
      labels: [wayLabel(event, way, ways.length === 1) + order],
    }));
  });
}

/** A way in words: `EVENT`, `EVENT: has no members`, or `EVENT: otherwise` at the end of several. */
function wayLabel(event: string, way: ChartWay, isOnly: boolean): string {
  if (way.guard !== null) return `${event}: ${inWords(way.guard)}`;
  return isOnly ? event : `${event}: otherwise`;
}

/** A guard of a choice in words, numbered in the order in which they are asked. */
export function choiceLabel(way: ChartWay, at: number): string {
  return `${at + 1}. ${way.guard === null ? 'otherwise' : inWords(way.guard)}`;
}

/** `hasNoMembers` as `has no members`. */
export function inWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
}

function merged(edges: readonly DrawnEdge[]): readonly DrawnEdge[] {
  const byEnds = new Map<string, DrawnEdge>();
  for (const edge of edges) {
    const key = JSON.stringify([edge.from, edge.to]);
    const labels = [...(byEnds.get(key)?.labels ?? []), ...edge.labels];
    byEnds.set(key, { ...edge, labels });
  }
  return [...byEnds.values()];
}
