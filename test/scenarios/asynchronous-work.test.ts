import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { RecordLog } from '../../actors/ports.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { assignDirectly } from '../support/assignment.ts';
import { Harness, joinBeat, someClient } from '../support/harness.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import { Troupe } from '../support/troupe.ts';

const ALL_FOUR = ['0_0', '0_1', '0_2', '0_3'];
/** Longer than an answer waits for its run, in either profile. */
const WAIT_MS = 10_100;

/** Keeps nothing, so that what is left in memory is the coordinator's own. */
const forgetfulLog: RecordLog = {
  admit: (batch) => batch,
  append: async () => {},
  load: async () => {},
  close: async () => {},
};

setFlagsFromString('--expose-gc');
/** Made once: each new context would be a leftover of its own. */
const collect: () => void = runInNewContext('gc');

function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

for (const profile of ['kip', 'kafka'] as const) {
  describe(`asynchronous work, profile ${profile}`, () => {
    it("S62 An assignor's result fits the group as it is now", async () => {
      const memory = new MemoryLog();
      const troupe = await Troupe.open({ recordLog: memory, profile, partitions: 4 });
      const { harness } = troupe;
      await troupe.join('A');
      await troupe.settle(['A']);
      harness.assignor.hold();
      const joining = troupe.joining('B');
      await harness.clock.settle();
      expect((await troupe.leave('B')).error).to.equal('NONE');
      harness.assignor.release();
      await harness.soon(joining);
      await troupe.settle(['A']);
      expect(troupe.activeOf('A')).to.deep.equal(ALL_FOUR);
      const [lived] = await harness.soon(harness.router.describe(['g']));
      expect([lived?.groupState, lived?.members.map(({ memberId }) => memberId)]).to.deep.equal([
        'Stable',
        ['A'],
      ]);
      const written = memory.batches.flatMap(({ records }) => records);
      const ofB = written.filter((record) => 'memberId' in record && record.memberId === 'B');
      expect(ofB.at(-1)?.value, 'the last word about B is a tombstone').to.equal(null);

      const again = await new Harness({
        recordLog: memory,
        compute: assignDirectly,
        profile,
      }).start();
      again.topics.set('in', 4);
      expect((await again.soon(again.router.describe(['g'])))[0]).to.deep.equal(lived);
    });

    it('S63 A result is for the group it was computed for, not for a namesake', async () => {
      const recordLog = new MemoryLog();
      const troupe = await Troupe.open({ recordLog, profile, partitions: 4 });
      const { harness } = troupe;
      harness.assignor.hold();
      const joining = troupe.joining('A');
      await harness.clock.pass(WAIT_MS);
      expect((await harness.soon(joining)).error).to.equal('NONE');
      await troupe.leave('A');
      const [deleted] = await harness.soon(harness.router.delete(['g']));
      expect(deleted?.error).to.equal('NONE');
      const again = troupe.joining('Z');
      await harness.clock.settle();
      expect(harness.assignor.waiting, 'the old job keeps nothing from starting').to.equal(2);
      harness.assignor.release();
      expect((await harness.soon(again)).error).to.equal('NONE');
      await troupe.settle(['Z']);
      expect(troupe.activeOf('Z')).to.deep.equal(ALL_FOUR);
      expect([...(harness.router.view('g')?.group.targets.keys() ?? [])]).to.deep.equal(['Z']);
    });

    it('S63 A result is for the group it was computed for: a load in between, and a thread that dies', async () => {
      const memory = new MemoryLog();
      const troupe = await Troupe.open({ recordLog: memory, profile, partitions: 4 });
      const old = troupe.harness;
      old.assignor.hold();
      void troupe.joining('A');
      await old.clock.settle();
      for (const shard of old.shards.all) shard.close();
      const harness = await new Harness({
        recordLog: memory,
        compute: assignDirectly,
        profile,
      }).start();
      harness.topics.set('in', 4);
      harness.assignor.failNext(new Error('the thread ended'));
      troupe.harness = harness;
      const first = await troupe.join('A');
      expect([first.error, first.activeTasks]).to.deep.equal(['NONE', []]);
      const { length } = memory.batches;
      old.assignor.release();
      await old.clock.settle();
      expect(memory.batches.length, 'the old job writes nothing').to.equal(length);
      await troupe.settle(['A']);
      expect(troupe.activeOf('A')).to.deep.equal(ALL_FOUR);
    });

    it('S65 A large group does not slow the small ones: nobody waits for its assignment', async () => {
      const recordLog = new MemoryLog();
      const troupe = await Troupe.open({ recordLog, profile, partitions: 100, shardCount: 1 });
      const { harness } = troupe;
      const { router } = harness;
      const small = Array.from({ length: 20 }, (_, at) => `small-${at}`);
      const epochs = await harness.soon(
        Promise.all(small.map((groupId) => router.heartbeat(joinBeat(groupId, 'A'), someClient))),
      );
      const large = Array.from({ length: 300 }, (_, at) => joinBeat('large', `m${at}`));
      const joined = await harness.soon(
        Promise.all(large.map((join) => router.heartbeat(join, someClient))),
      );
      harness.assignor.hold();
      const waiting = router.heartbeat(joinBeat('large', 'one-more'), someClient);
      await harness.clock.settle();
      expect(harness.assignor.waiting).to.equal(1);
      const beats = await harness.soon(
        Promise.all(
          small.map((groupId, at) =>
            router.heartbeat(steadyBeat(groupId, 'A', epochs[at]?.memberEpoch ?? 0), someClient),
          ),
        ),
      );
      expect(beats.map(({ error }) => error)).to.deep.equal(small.map(() => 'NONE'));
      const other = steadyBeat('large', 'm7', joined[7]?.memberEpoch ?? 0);
      const others = await harness.beat(other);
      expect(others.error, 'nor do the others of the large group').to.equal('NONE');
      harness.assignor.release();
      expect((await harness.soon(waiting)).error).to.equal('NONE');
    });
  });
}

describe('what members and groups leave behind', () => {
  it('S64 What a member or group leaves behind is nothing', async () => {
    const harness = await new Harness({
      recordLog: forgetfulLog,
      compute: assignDirectly,
      shardCount: 4,
    }).start();
    harness.topics.set('in', 2);
    const { router } = harness;
    const round = async (name: string, groups: number) => {
      const ids = Array.from({ length: groups }, (_, at) => `${name}-${at}`);
      const beat = (memberEpoch: number) =>
        Promise.all(
          ids.map((id) => router.heartbeat(steadyBeat(id, 'A', memberEpoch), someClient)),
        );
      const joins = ids.map((id) => router.heartbeat(joinBeat(id, 'A'), someClient));
      const [joined] = await harness.soon(Promise.all(joins));
      for (let beats = 0; beats < 5; beats++) {
        await harness.soon(beat(joined?.memberEpoch ?? 0));
        await harness.clock.pass(50);
      }
      const left = await harness.soon(beat(-1));
      expect(new Set(left.map(({ error }) => error))).to.deep.equal(new Set(['NONE']));
      const deleted = await harness.soon(router.delete(ids));
      expect(new Set(deleted.map(({ error }) => error))).to.deep.equal(new Set(['NONE']));
      await harness.clock.pass(60_000);
      harness.journal.length = 0;
      harness.states.length = 0;
      harness.log.lines.length = 0;
    };
    // Code that runs for the first time leaves its own traces.
    for (let at = 0; at < 8; at++) await round(`warm-${at}`, 300);
    const before = heapBytes();
    for (let at = 0; at < 6; at++) await round(`round-${at}`, 300);
    const leftPerGroup = (heapBytes() - before) / 1_800;
    expect(leftPerGroup, 'bytes per group that is gone').to.be.below(400);
    expect(router.groupIds()).to.deep.equal([]);
  });
});
