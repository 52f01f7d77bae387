import { expect } from 'chai';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { Troupe } from '../support/troupe.ts';

for (const profile of ['kip', 'kafka'] as const) {
  describe(`placement and statuses, profile ${profile}`, () => {
    it('S10 A process never holds two copies of a stateful task, at no moment and in no role', async () => {
      const troupe = await Troupe.open({
        recordLog: new MemoryLog(),
        profile,
        topology: 'T',
        partitions: 4,
        settings: { numStandbyReplicas: 1 },
      });
      const processes: Readonly<Record<string, string>> = {
        A1: 'P1',
        A2: 'P1',
        B1: 'P2',
        C1: 'P3',
      };
      const present = new Set<string>();
      const check = () => {
        const copies = new Map<string, string>();
        for (const name of present) {
          const { runs, processId } = troupe.member(name);
          const mine = new Set<string>();
          for (const list of [runs.active, runs.standby, runs.warmup]) {
            forEachTask(list, (id, at) => mine.add(`${processId} ${taskKey(id, at)}`));
          }
          for (const copy of mine) {
            expect(copies.get(copy), `${copy} is on ${name} and another`).to.equal(undefined);
            copies.set(copy, name);
          }
        }
      };
      const join = async (name: string) => {
        await troupe.join(name, { processId: processes[name] ?? '' });
        present.add(name);
        check();
      };
      for (const name of ['A1', 'A2', 'B1']) await join(name);
      await troupe.settle([...present], check);
      expect(standbysOf(troupe, present)).to.equal(4);
      await join('C1');
      await troupe.settle([...present], check);
      present.delete('B1');
      await troupe.leave('B1');
      await troupe.settle([...present], check);
      expect(standbysOf(troupe, present)).to.equal(4);
      const active = [...present].flatMap((name) => troupe.activeOf(name));
      expect(active.sort()).to.deep.equal(['0_0', '0_1', '0_2', '0_3']);
    });

    it('S21 A status is repeated for as long as it is true', async () => {
      const recordLog = new MemoryLog();
      const troupe = await Troupe.open({ recordLog, profile, topology: 'T', partitions: 0 });
      const { topics } = troupe.harness;
      const told = async () => {
        const { error, statuses } = await troupe.beat('A', 'told');
        expect(error).to.equal('NONE');
        return statuses;
      };
      /** A change is noticed by the first beat; from then on every one says the same. */
      const expectEachBeat = async (status: string, named: string) => {
        await told();
        for (let beat = 0; beat < 3; beat++) {
          const statuses = await told();
          expect(statuses.map((each) => each.status)).to.deep.equal([status]);
          expect(statuses[0]?.detail).to.contain(named);
        }
      };
      const joined = await troupe.join('A');
      expect(joined.statuses.map(({ status }) => status)).to.deep.equal(['MISSING_SOURCE_TOPICS']);
      await expectEachBeat('MISSING_SOURCE_TOPICS', 'in');
      topics.set('in', 2);
      topics.set('app-store-changelog', 0);
      await expectEachBeat('MISSING_INTERNAL_TOPICS', 'app-store-changelog');
      topics.set('app-store-changelog', 3);
      await expectEachBeat('INCORRECTLY_PARTITIONED_TOPICS', 'app-store-changelog');
      topics.set('app-store-changelog', 2);
      await troupe.settle(['A']);
      expect(await told()).to.deep.equal([]);
      expect(troupe.activeOf('A')).to.deep.equal(['0_0', '0_1']);
    });

    it('S21 A status is repeated for as long as it is true: ASSIGNMENT_DELAYED', async () => {
      const troupe = await Troupe.open({
        recordLog: new MemoryLog(),
        profile,
        settings: { initialRebalanceDelayMs: 3000 },
      });
      const statuses = [(await troupe.join('A')).statuses];
      for (let beat = 0; beat < 3; beat++) statuses.push((await troupe.beat('A')).statuses);
      expect(statuses.map((each) => each.map(({ status }) => status))).to.deep.equal(
        statuses.map(() => ['ASSIGNMENT_DELAYED']),
      );
      await troupe.harness.clock.pass(3000);
      expect((await troupe.beat('A')).statuses).to.deep.equal([]);
      expect(troupe.activeOf('A')).to.deep.equal(['0_0', '0_1']);
    });

    it('S42 A request for another group, or by another member, is told so and creates nothing (step 3)', async () => {
      const troupe = await Troupe.open({ recordLog: new MemoryLog(), profile });
      const { harness } = troupe;
      await troupe.join('A');
      const stranger = troupe.member('B');
      stranger.epoch = 5;
      expect((await troupe.beat('B')).error).to.equal('UNKNOWN_MEMBER_ID');
      stranger.epoch = 5;
      expect((await troupe.beat('B', 'silent', { groupId: 'nowhere' })).error).to.equal(
        'GROUP_ID_NOT_FOUND',
      );
      const described = await harness.soon(harness.router.describe(['', 'nowhere']));
      expect(described.map(({ error }) => error)).to.deep.equal([
        'INVALID_GROUP_ID',
        'GROUP_ID_NOT_FOUND',
      ]);
      const listed = await harness.soon(harness.router.list({ states: [], types: [] }));
      expect(listed.groups.map(({ groupId }) => groupId)).to.deep.equal(['g']);
    });
  });
}

function standbysOf(troupe: Troupe, names: ReadonlySet<string>): number {
  return [...names]
    .flatMap((name) => troupe.member(name).told.standby)
    .reduce((sum, { partitions }) => sum + partitions.length, 0);
}
