import type { AnyStateMachine } from 'xstate';

/**
 * Runs a chart for one event: the one place where that happens.
 *
 * XState builds a throw-away actor for every pure transition; a coordinator asks thousands of times a second.
 * So the chart is read once into a table of "in this state, on this event, these candidates", and a step is a
 * look-up and the guards. The charts here are flat, hold no context and run no actions, which is checked when
 * the table is made; a test holds the table against XState's own `transition()`.
 *
 * @param current the name of a state of the chart.
 * @returns the name of the next state; `current` when the chart has no answer to the event.
 */
export function step<S extends string>(
  machine: AnyStateMachine,
  current: S,
  event: { readonly type: string },
): S {
  const candidates = tableOf(machine).get(current)?.get(event.type);
  if (candidates === undefined) return current;
  for (const { holds, target } of candidates) {
    if (holds === undefined || holds({ event })) return (target ?? current) as S;
  }
  return current;
}

type Guard = (args: { readonly event: { readonly type: string } }) => boolean;

type Candidate = {
  readonly holds: Guard | undefined;
  /** Undefined: the event is taken and the state stays. */
  readonly target: string | undefined;
};

type Table = ReadonlyMap<string, ReadonlyMap<string, readonly Candidate[]>>;

const tables = new WeakMap<AnyStateMachine, Table>();

function tableOf(machine: AnyStateMachine): Table {
  const known = tables.get(machine);
  if (known !== undefined) return known;
  const made = readChart(machine);
  tables.set(machine, made);
  return made;
}

function readChart(machine: AnyStateMachine): Table {
  const table = new Map<string, Map<string, Candidate[]>>();
  for (const [name, node] of Object.entries(machine.states)) {
    const byEvent = new Map<string, Candidate[]>();
    for (const [eventType, transitions] of node.transitions) {
      byEvent.set(
        eventType,
        transitions.map((transition) => {
          if (transition.actions.length > 0) throw new Error(`Chart ${machine.id}: has actions`);
          return {
            holds: guardOf(machine, transition.guard),
            target: transition.target?.[0]?.key,
          };
        }),
      );
    }
    if (Object.keys(node.states).length > 0) throw new Error(`Chart ${machine.id}: is not flat`);
    table.set(name, byEvent);
  }
  return table;
}

function guardOf(machine: AnyStateMachine, guard: unknown): Guard | undefined {
  if (guard === undefined) return undefined;
  const named = typeof guard === 'string' ? machine.implementations.guards[guard] : undefined;
  if (typeof named !== 'function') throw new Error(`Chart ${machine.id}: guards go by name`);
  return named as unknown as Guard;
}
