import { type Difference, judge } from './explained.ts';
import type { HistoryHead, Step } from './history.ts';
import { Picture } from './picture.ts';

/** One server, seen through the steps of one history. */
export type Scene = {
  /** Makes topics and settings as the head wants them. */
  setUp(): Promise<void>;
  /** The step's answer in the short form of a recorded trace; undefined for steps that have none. */
  step(step: Step): Promise<unknown>;
  /** Gives back what the history used. */
  dispose(): Promise<void>;
};

/** Opens a fresh scene for a history; group, topics and connections are its own. */
export type OpenScene = (head: HistoryHead) => Scene;

export type Servers = {
  readonly real: OpenScene;
  readonly ours: OpenScene;
  readonly compare: (step: Step, real: unknown, ours: unknown) => readonly Difference[];
};

/** A step that two servers answered differently, with no explanation for it. */
export type Parting = {
  /** Its place among the steps, from 0. */
  readonly at: number;
  readonly step: Step;
  readonly real: unknown;
  readonly ours: unknown;
  readonly differences: readonly Difference[];
};

export type Outcome = {
  /** The steps played, with the real server's answers. */
  readonly steps: readonly Step[];
  readonly parting: Parting | undefined;
  /** How often each explanation was needed, and the ending, by name. */
  readonly explained: ReadonlyMap<string, number>;
};

/** Where the steps come from: drawn as the history goes, or given. */
export type Script = {
  next(): Step | undefined;
  learn(step: Step, answer: unknown): void;
};

/** Steps that are given. */
export function scriptOf(steps: readonly Step[]): Script {
  const left = [...steps];
  return { next: () => left.shift(), learn: () => {} };
}

/** Plays a history on both servers at a time, up to the first answer that differs and is not explained, or an ending. */
export async function playHistory(
  servers: Servers,
  head: HistoryHead,
  script: Script,
): Promise<Outcome> {
  const real = servers.real(head);
  const ours = servers.ours(head);
  const picture = new Picture(head);
  const steps: Step[] = [];
  const explained = new Map<string, number>();
  try {
    await Promise.all([real.setUp(), ours.setUp()]);
    for (let step = script.next(); step !== undefined; step = script.next()) {
      const [answer, got] = await Promise.all([real.step(step), ours.step(step)]);
      steps.push(answer === undefined ? step : { ...step, answer });
      const exchange = { step, real: answer, ours: got, before: picture };
      const { notes, faults, isOver } = judge(exchange, () => servers.compare(step, answer, got));
      for (const name of notes) explained.set(name, (explained.get(name) ?? 0) + 1);
      if (faults.length > 0) {
        const at = steps.length - 1;
        const parting = { at, step, real: answer, ours: got, differences: faults };
        return { steps, parting, explained };
      }
      if (isOver) break;
      picture.learn(step, answer);
      script.learn(step, answer);
    }
    return { steps, parting: undefined, explained };
  } finally {
    await Promise.all([real.dispose(), ours.dispose()]);
  }
}
