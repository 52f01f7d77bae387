import { expect } from 'chai';
import { Jobs, type RunOver } from '../../actors/jobs.ts';
import type { AssignorPort, RuntimeMetrics } from '../../actors/ports.ts';
import type { RunProblem } from '../../machines/model/assignment.ts';
import { newGroup, newMember } from '../../machines/model/empty.ts';
import { PersistentMap } from '../../machines/model/persistent-map.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { readRoles } from '../support/refiner.ts';

const ids = Array.from({ length: 450 }, (_, at) => `m${at}`);
const group = {
  ...newGroup('G'),
  members: PersistentMap.from(ids.map((id) => [id, newMember(id)] as const)),
};
const result = {
  memberIds: ids,
  installed: ids.map(() => undefined),
  targets: ids.map((_, at) => readRoles(`0:[${at}]|[]|[]`)),
  unassigned: [],
};

/** A clock that counts how often others had their turn. */
class CountingClock extends ManualClock {
  turns = 0;

  override soon(callback: () => void): void {
    this.turns++;
    super.soon(callback);
  }
}

/** Starts one run. @returns what it came to, how often it was counted, and how often others had their turn. */
async function run(assign: AssignorPort['assign']) {
  const clock = new CountingClock();
  const counted: string[] = [];
  const metrics = {
    assignmentRun: (outcome: string) => void counted.push(outcome),
  } as unknown as RuntimeMetrics;
  const assignor = { assign, prepare() {}, forget() {} };
  const jobs = new Jobs({ assignor, clock, deadlineMs: 1_000, metrics });
  const ends: Parameters<RunOver>[0][] = [];
  const problem = { group } as RunProblem;
  jobs.start({ incarnation: 1, run: 7, groupEpoch: 2, problem }, (end) => void ends.push(end));
  expect(jobs.inFlight).to.equal(1);
  await clock.settle();
  expect(jobs.inFlight).to.equal(0);
  return { ends, counted, turns: clock.turns };
}

describe('Jobs', () => {
  it('brings a result back with its target prepared, and lets others have their turn meanwhile', async () => {
    const { ends, counted, turns } = await run(() => Promise.resolve(result));
    expect(counted).to.deep.equal(['assigned']);
    expect(ends).to.have.length(1);
    const [end] = ends;
    expect(end?.kind === 'assigned' && end.prepared?.records.length).to.equal(ids.length);
    expect(turns).to.be.greaterThan(2);
  });

  it('brings a failure back once, with its reason, wherever it came from', async () => {
    const refuse = () => Promise.reject(new Error('too late'));
    const broken = { ...result, targets: undefined as unknown as typeof result.targets };
    for (const assign of [refuse, () => Promise.resolve(broken)]) {
      const { ends, counted } = await run(assign);
      expect(counted).to.deep.equal(['failed']);
      expect(ends.map(({ kind, run: number }) => [kind, number])).to.deep.equal([['failed', 7]]);
    }
  });
});
