import { expect } from 'chai';
import type { RecordLog } from '../../actors/ports.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { assignDirectly } from '../support/assignment.ts';
import { FaultyLog } from '../support/faulty-log.ts';
import { Harness, joinBeat, someClient } from '../support/harness.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import { Troupe } from '../support/troupe.ts';

const RETRIABLE = ['COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR'];
const noOffsets = { groupId: 'g', memberId: null, memberEpoch: -1, topics: null };

/** Loads only once it is let. */
class GatedLog extends MemoryLog {
  #open = () => {};
  readonly #gate = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  open(): void {
    this.#open();
  }

  override async load(shard: number, onRecord: Parameters<RecordLog['load']>[1]): Promise<void> {
    await this.#gate;
    return super.load(shard, onRecord);
  }
}

/** The same log under a new process. */
async function restarted(memory: MemoryLog, profile: 'kip' | 'kafka'): Promise<Harness> {
  const recordLog = new MemoryLog(memory.batches);
  const again = await new Harness({ recordLog, compute: assignDirectly, profile }).start();
  again.topics.set('in', 2);
  return again;
}

for (const profile of ['kip', 'kafka'] as const) {
  describe(`persistence and replay, profile ${profile}`, () => {
    async function settledTroupe() {
      const memory = new MemoryLog();
      const log = new FaultyLog(memory);
      const troupe = await Troupe.open({ recordLog: log, profile });
      await troupe.join('A');
      await troupe.settle(['A']);
      const described = async () =>
        (await troupe.harness.soon(troupe.harness.router.describe(['g'])))[0];
      return { troupe, log, memory, described };
    }

    it('S35 A failed append leaves nothing behind: a join', async () => {
      const { troupe, log, memory, described } = await settledTroupe();
      const { harness } = troupe;
      const before = await described();
      const endpointEpoch = (await troupe.beat('A')).endpointInformationEpoch;
      log.failAppend(log.called + 1);
      const withEndpoint = { userEndpoint: { host: 'b', port: 1 } };
      expect(RETRIABLE).to.include((await troupe.join('B', { with: withEndpoint })).error);
      expect(await described()).to.deep.equal(before);
      const beat = await troupe.beat('A');
      expect([beat.error, beat.endpointInformationEpoch]).to.deep.equal(['NONE', endpointEpoch]);
      const journaled = harness.journal.length;
      for (let waited = 0; waited < 60_000; waited += 20_000) {
        await harness.clock.pass(20_000);
        expect((await troupe.beat('A')).error).to.equal('NONE');
      }
      expect(harness.journal.slice(journaled), 'nobody expired').to.deep.equal([]);

      expect((await troupe.join('B')).error).to.equal('NONE');
      const lived = await described();
      expect(lived?.members.map(({ memberId }) => memberId)).to.deep.equal(['A', 'B']);
      const again = await restarted(memory, profile);
      const [replayed] = await again.soon(again.router.describe(['g']));
      expect(replayed).to.deep.equal(lived);
    });

    for (const shutdownApplication of [false, true]) {
      const what = shutdownApplication ? 'a leave that asks for the shutdown' : 'a leave';
      it(`S35 A failed append leaves nothing behind: ${what}`, async () => {
        const { troupe, log, memory, described } = await settledTroupe();
        await troupe.join('B');
        await troupe.settle(['A', 'B']);
        const before = await described();
        const { epoch } = troupe.member('A');
        log.failAppend(log.called + 1);
        const refused = await troupe.harness.beat({
          ...steadyBeat('g', 'A', -1),
          shutdownApplication,
        });
        expect(RETRIABLE).to.include(refused.error);
        expect(await described()).to.deep.equal(before);
        const beats = [await troupe.beat('A'), await troupe.beat('B')];
        expect(
          beats.map(({ error, statuses, memberEpoch }) => ({ error, statuses, memberEpoch })),
        ).to.deep.equal(
          ['A', 'B'].map(() => ({ error: 'NONE', statuses: [], memberEpoch: epoch })),
        );
        const again = await restarted(memory, profile);
        expect((await again.soon(again.router.describe(['g'])))[0]).to.deep.equal(before);
      });
    }

    it('S36 A shard answers only when it is fully loaded (REQ-5)', async () => {
      const { memory, described } = await settledTroupe();
      const log = new GatedLog(memory.batches);
      const harness = new Harness({ recordLog: log, compute: assignDirectly, profile });
      harness.topics.set('in', 2);
      const loading = harness.start();
      const { router } = harness;
      const errors = [
        (await harness.beat(joinBeat('g', 'new'))).error,
        (await harness.beat(steadyBeat('g', 'A', 2))).error,
        (await harness.soon(router.describe(['g'])))[0]?.error,
        (await harness.soon(router.list({ states: [], types: [] }))).error,
        (await harness.soon(router.fetchOffsets(noOffsets, { stable: false }))).error,
        (await harness.soon(router.delete(['g'])))[0]?.error,
      ];
      expect(errors).to.deep.equal(errors.map(() => 'COORDINATOR_LOAD_IN_PROGRESS'));
      log.open();
      await loading;
      expect((await harness.soon(router.describe(['g'])))[0]).to.deep.equal(await described());
    });

    it('S36 A shard answers only while it is ours: what waits is told, nothing of the old life acts or is written (REQ-5, LOAD-4)', async () => {
      const { troupe, log } = await settledTroupe();
      const { harness } = troupe;
      harness.assignor.hold();
      const joining = troupe.joining('B');
      await harness.clock.settle();
      for (const shard of harness.shards.all) shard.close();
      expect((await harness.soon(joining)).error).to.equal('NOT_COORDINATOR');
      expect((await troupe.beat('A')).error).to.equal('NOT_COORDINATOR');
      const { called } = log;
      harness.assignor.release();
      await harness.clock.pass(120_000);
      expect(log.called).to.equal(called);
    });

    it('S55 A join that could not be written leaves no group to be counted (MT-1)', async () => {
      const { troupe, log } = await settledTroupe();
      const { router } = troupe.harness;
      const counts = () => {
        const shards = router.shards();
        return {
          groups: shards.reduce((sum, { groups }) => sum + groups, 0),
          stable: shards.reduce((sum, { groupsByState }) => sum + groupsByState.Stable, 0),
          members: shards.reduce((sum, { members }) => sum + members, 0),
        };
      };
      const before = counts();
      log.failAppend(log.called + 1);
      const refused = await troupe.join('Z', { groupId: 'ghost' });
      expect(RETRIABLE).to.include(refused.error);
      expect(counts()).to.deep.equal(before);
      const { groups } = await troupe.harness.soon(router.list({ states: [], types: [] }));
      expect(groups.map(({ groupId }) => groupId)).to.deep.equal(['g']);
      expect((await troupe.join('Z', { groupId: 'ghost' })).error).to.equal('NONE');
      expect(counts()).to.deep.equal({
        groups: before.groups + 1,
        stable: before.stable + 1,
        members: before.members + 1,
      });
    });

    it('S47 A stalled log asks the reader to look again (step 2)', async () => {
      const { troupe, log } = await settledTroupe();
      const { harness } = troupe;
      log.hold();
      void troupe.joining('B');
      await harness.clock.settle();
      const stable = harness.router.fetchOffsets(noOffsets, { stable: true });
      const plain = await harness.soon(harness.router.fetchOffsets(noOffsets, { stable: false }));
      expect(plain.error).to.equal('NONE');
      await harness.clock.pass(5_100);
      expect((await harness.soon(stable)).error).to.equal('NOT_COORDINATOR');
      log.release();
      await harness.clock.settle();
    });
  });
}

describe('COORDINATOR_LOAD_IN_PROGRESS', () => {
  it('is what every shard says that waits behind another in the load (BA-11)', async () => {
    const log = new GatedLog();
    const harness = new Harness({ recordLog: log, compute: assignDirectly, shardCount: 12 });
    const loading = harness.start();
    const groups = Array.from({ length: 40 }, (_, at) => `g${at}`);
    const early = await Promise.all(
      groups.map((id) => harness.router.heartbeat(joinBeat(id, 'A'), someClient)),
    );
    expect(new Set(early.map(({ error }) => error))).to.deep.equal(
      new Set(['COORDINATOR_LOAD_IN_PROGRESS']),
    );
    log.open();
    await loading;
    const late = groups.map((id) => harness.router.heartbeat(joinBeat(id, 'A'), someClient));
    const answers = await harness.soon(Promise.all(late));
    expect(new Set(answers.map(({ error }) => error))).to.deep.equal(new Set(['NONE']));
  });
});
