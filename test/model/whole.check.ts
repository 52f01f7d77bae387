import { expect } from 'chai';
import { explore } from './explore.ts';
import { historyOf } from './history.ts';
import { MOVE_KINDS, type MoveKind } from './moves.ts';
import { PLANS } from './worlds.ts';

/** The least that is to be explored in all. */
const WORLDS_MIN = 200_000;

describe('the whole model', () => {
  const met = new Map<MoveKind, number>();
  const report: string[] = [];
  let worldsInAll = 0;

  after(() => {
    const kinds = [...met].map(([kind, count]) => `${kind} ${count}`);
    console.log([...report, kinds.join(', ')].join('\n'));
  });

  for (const { setup, whole } of PLANS) {
    it(`${setup.name}: ${whole.worlds} worlds within ${whole.depthMax} moves`, () => {
      const explored = explore(setup, { ...whole, worldsMax: Number.POSITIVE_INFINITY });
      const { worlds, moves, movesByKind, fairMovesMax, isWhole, violation } = explored;
      if (violation !== undefined) {
        throw new Error(historyOf(setup, violation.path, violation.broken));
      }
      for (const [kind, count] of movesByKind) met.set(kind, (met.get(kind) ?? 0) + count);
      worldsInAll += worlds;
      const depth = isWhole ? 'all of it' : `${whole.depthMax} moves deep`;
      report.push(`${setup.name}: ${depth}, ${moves} moves, at rest after ${fairMovesMax} at most`);
      expect(worlds).to.equal(whole.worlds);
    });
  }

  it(`is of ${WORLDS_MIN} worlds at least, and meets every kind of move`, () => {
    expect(worldsInAll).to.be.at.least(WORLDS_MIN);
    expect([...met.keys()].sort()).to.deep.equal([...MOVE_KINDS].sort());
  });
});
