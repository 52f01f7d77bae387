import type { Chart } from '../../machines/charts.ts';
import { readChartModel } from '../../src/charts/chart-model.ts';

/** One way through a chart: in this state, on this event, because this guard is the first that holds, to that state. */
export type Edge = {
  readonly from: string;
  readonly event: string;
  /** `always` where the chart names none. */
  readonly guard: string;
  readonly to: string;
};

const known = new WeakMap<Chart, readonly string[]>();

/** Every way that a chart has, as text: `Stable SETTLED [hasNoMembers] Empty`. */
export function edgesOf(chart: Chart): readonly string[] {
  const edges = known.get(chart) ?? readEdges(chart);
  known.set(chart, edges);
  return edges;
}

function readEdges(chart: Chart): readonly string[] {
  return readChartModel(chart).states.flatMap(({ name, on }) =>
    on.flatMap(({ event, ways }) =>
      ways.map(({ guard, target }) =>
        edgeText({ from: name, event, guard: guard ?? 'always', to: target }),
      ),
    ),
  );
}

export function edgeText({ from, event, guard, to }: Edge): string {
  return `${from} ${event} [${guard}] ${to}`;
}

/** The one way of a chart that leads from a state on an event to another state; of several the last. */
export function edgeTo(chart: Chart, from: string, event: string, to: string): string {
  const edges = edgesOf(chart).filter(
    (edge) => edge.startsWith(`${from} ${event} [`) && edge.endsWith(`] ${to}`),
  );
  const edge = edges.at(-1);
  if (edge === undefined)
    throw new Error(`Chart ${chart.name}: ${from} ${event} leads not to ${to}`);
  return edge;
}
