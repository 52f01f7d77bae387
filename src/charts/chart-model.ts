import type { Chart } from '../../machines/charts.ts';

/** A state chart as plain data: what the charts that run say of themselves. */
export type ChartModel = {
  readonly name: string;
  readonly title: string;
  readonly initial: string;
  readonly states: readonly ChartState[];
  /** State to a note about who is in it now; empty when nobody is looked at. */
  readonly marks: Readonly<Record<string, string>>;
};

export type ChartState = {
  readonly name: string;
  /** Nothing leads out of it. */
  readonly final: boolean;
  /** What the chart says of it, mostly how it comes about; null: its name says enough. */
  readonly note: string | null;
  readonly on: readonly ChartReaction[];
};

/** What a state makes of an event: the first way whose guard holds is taken. */
export type ChartReaction = { readonly event: string; readonly ways: readonly ChartWay[] };

/** `guard` null: always. */
export type ChartWay = { readonly guard: string | null; readonly target: string };

/**
 * Reads a chart's states, events and guards out of the machine itself.
 *
 * @param marks notes for the states that something is in now, as `{ Stable: 'group orders' }`.
 */
export function readChartModel(
  { name, title, machine }: Chart,
  marks: Readonly<Record<string, string>> = {},
): ChartModel {
  const nodes = Object.entries(machine.states);
  const initial = machine.root.initial.target?.[0]?.key;
  if (initial === undefined) throw new Error(`Chart ${name}: has no initial state`);
  return {
    name,
    title,
    initial,
    marks,
    states: nodes.map(([state, node]) => ({
      name: state,
      final: node.type === 'final',
      note: node.description ?? null,
      on: [...node.transitions].map(([event, transitions]) => ({
        event,
        ways: transitions.map(({ guard, target }) => ({
          guard: guard === undefined ? null : String(guard),
          target: target?.[0]?.key ?? state,
        })),
      })),
    })),
  };
}
