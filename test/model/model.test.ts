import { expect } from 'chai';
import { SeededRandom } from '../support/seeded-random.ts';
import { explore } from './explore.ts';
import { historyOf } from './history.ts';
import { MUTANTS } from './mutants.ts';
import { walk } from './walks.ts';
import { LATE_REPORT, PLANS } from './worlds.ts';

const UNBOUNDED = Number.POSITIVE_INFINITY;

describe('the model', () => {
  describe('keeps every law in the worlds that are near', () => {
    for (const { setup, quick } of PLANS) {
      it(`${setup.name}: ${quick.worlds} worlds within ${quick.depthMax} moves`, () => {
        const { worlds, violation } = explore(setup, { ...quick, worldsMax: UNBOUNDED });
        if (violation !== undefined) {
          throw new Error(historyOf(setup, violation.path, violation.broken));
        }
        expect(worlds).to.equal(quick.worlds);
      });
    }
  });

  describe('keeps them far away too, and no fingerprint takes two worlds for one', () => {
    for (const { setup } of PLANS) {
      it(setup.name, () => {
        const walked = walk(setup, { random: new SeededRandom(1), walks: 5, steps: 60 });
        if (walked.broken !== undefined) {
          throw new Error(historyOf(setup, walked.path, walked.broken));
        }
        expect(walked.compared).to.be.above(0);
      });
    }
  });

  describe('notices', () => {
    for (const { fault, decisions, setup, noticed } of MUTANTS) {
      it(fault, () => {
        const { violation } = explore({ ...setup, decisions }, { depthMax: 14, worldsMax: 30_000 });
        expect(violation?.broken).to.match(noticed);
      });
    }

    it('what no coordinator can: a request that comes late may release what its member runs', () => {
      const { violation } = explore(LATE_REPORT, { depthMax: 14, worldsMax: 30_000 });
      expect(violation?.broken).to.match(/runs an active task that another one runs/);
      expect(violation?.path.map(({ kind }) => kind)).to.include('lateArrives');
    });
  });

  describe('tells its histories as traces, which end where it does', () => {
    for (const { setup } of PLANS) {
      it(setup.name, () => {
        const { path, world } = walk(setup, { random: new SeededRandom(2), walks: 1, steps: 40 });
        const { group } = world.coordinator.slot;
        const told = historyOf(setup, path, 'a walk')
          .match(/^group: .*$/gm)
          ?.at(-1);
        expect(told).to.equal(
          group === undefined
            ? 'group: none'
            : `group: ${group.state.toLowerCase()} ${group.groupEpoch}/${group.assignmentEpoch}`,
        );
      });
    }
  });
});
