import { expect } from 'chai';
import fc from 'fast-check';
import { HistoryDrawer } from './draw-history.ts';
import type { Step } from './history.ts';

/** Steps as they follow when each heartbeat is granted the next epoch. */
function draw(seed: number, count: number, serves = (_: string) => true) {
  const drawer = new HistoryDrawer(seed, serves);
  const drawn = Array.from({ length: count }, (_, at) => {
    const { kind, step } = drawer.next();
    drawer.learn(step, answerTo(step, at));
    return { kind, step };
  });
  return { head: drawer.head, drawn };
}

function answerTo(step: Step, at: number): unknown {
  if (step.do === 'leave')
    return { memberEpoch: (step['send'] as Step | undefined)?.['memberEpoch'] ?? -1 };
  if (step.do === 'join')
    return { memberEpoch: at + 2, activeTasks: { '0': [0, 1] }, standbyTasks: {}, warmupTasks: {} };
  if (step.do === 'beat' || step.do === 'ack') return { memberEpoch: at + 2 };
  return {};
}

describe('HistoryDrawer', () => {
  it('draws the same history from the same seed and the same answers', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        expect(draw(seed, 30)).to.deep.equal(draw(seed, 30));
      }),
      { numRuns: 30 },
    );
  });

  it('draws other histories from other seeds', () => {
    const texts = Array.from({ length: 50 }, (_, seed) => JSON.stringify(draw(seed, 10)));
    expect(new Set(texts).size).to.equal(50);
  });

  it('draws every kind of step within a hundred histories', () => {
    const kinds = new Set<string>();
    for (let seed = 0; seed < 100; seed++)
      for (const { kind } of draw(seed, 30).drawn) kinds.add(kind);
    const missing = HistoryDrawer.kinds.filter((name) => !kinds.has(name));
    expect(missing).to.deep.equal([]);
  });

  it('asks nothing of an API that is not served', () => {
    const { drawn } = draw(7, 200, (api) => api === 'OFFSET_COMMIT');
    const dos = new Set(drawn.map(({ step }) => step.do));
    expect(dos).to.include('offsetCommit');
    for (const kind of ['describe', 'list', 'offsetFetch', 'alterConfig'])
      expect(dos).to.not.include(kind);
  });

  it('lets a member come back from the break it took', () => {
    const returns = Array.from({ length: 100 }, (_, seed) => draw(seed, 40).drawn).flatMap(
      (drawn) =>
        drawn.flatMap(({ kind }, at) =>
          kind === 'return from a break' ? [drawn.slice(0, at)] : [],
        ),
    );
    expect(returns.length).to.be.above(10);
    for (const before of returns) {
      expect(
        before.some(({ step }) => (step['send'] as Step | undefined)?.['memberEpoch'] === -2),
      ).to.equal(true);
    }
  });
});
