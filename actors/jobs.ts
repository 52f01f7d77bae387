import { prepareTarget } from '../machines/decide/prepare-target.ts';
import type { AssignmentRun, RunOutcome } from '../machines/decision.ts';
import type { GroupProblem } from '../machines/model/assignment.ts';
import { inSlices } from './in-slices.ts';
import type { AssignorPort, Clock, RunLookBack, RuntimeMetrics } from './ports.ts';
import { reasonOf } from './reason-of.ts';

/** Takes what became of a run, and what it is looked back on with, if it is. */
export type RunOver = (outcome: RunOutcome, lookBack?: RunLookBack) => void;

/**
 * Sends runs to the assignor and brings back what became of them, tagged as they went (OFF-2). A run past its
 * deadline comes back as failed; whatever the pool says later was not asked for any more.
 */
export class Jobs {
  readonly #assignor: AssignorPort;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #metrics: RuntimeMetrics;
  #inFlight = 0;

  constructor(ports: {
    assignor: AssignorPort;
    clock: Clock;
    deadlineMs: number;
    metrics: RuntimeMetrics;
  }) {
    this.#assignor = ports.assignor;
    this.#clock = ports.clock;
    this.#deadlineMs = ports.deadlineMs;
    this.#metrics = ports.metrics;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Lets the assignor get ready for a run that is to come. */
  prepare(problem: GroupProblem): void {
    this.#assignor.prepare(problem);
  }

  /** `over` is called exactly once. */
  start(run: AssignmentRun, over: RunOver): void {
    this.#inFlight++;
    void this.#endOf(run).then(([outcome, lookBack]) => {
      this.#inFlight--;
      over(outcome, lookBack);
    });
  }

  /** Never rejects. */
  async #endOf(run: AssignmentRun): Promise<Parameters<RunOver>> {
    const startedMs = this.#clock.monotonicMs();
    const { incarnation, run: number, groupEpoch, problem } = run;
    const about = { incarnation, run: number };
    try {
      const { lookBack, ...result } = await this.#assignor.assign(problem, {
        deadlineMs: this.#deadlineMs,
      });
      const ms = this.#clock.monotonicMs() - startedMs;
      const prepared = await inSlices(prepareTarget(problem.group, result), this.#clock);
      this.#metrics.assignmentRun('assigned', ms, result.threadMs);
      if (result.standIn !== undefined) this.#metrics.assignorStoodIn(result.standIn);
      const looksBack = lookBack !== undefined;
      const assigned = { groupEpoch, problem, result, prepared, looksBack };
      return [{ kind: 'assigned', ...about, ...assigned }, lookBack];
    } catch (cause) {
      this.#metrics.assignmentRun('failed', this.#clock.monotonicMs() - startedMs);
      return [{ kind: 'failed', ...about, reason: reasonOf(cause) }];
    }
  }
}
