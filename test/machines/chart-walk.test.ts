import { expect } from 'chai';
import { LogError } from '../../actors/ports.ts';
import { type Chart, charts } from '../../machines/charts.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import type { ShardEvent } from '../../machines/shard-machine.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { wander } from '../model/walks.ts';
import { PLANS } from '../model/worlds.ts';
import { assignDirectly } from '../support/assignment.ts';
import { edgesOf, edgeTo } from '../support/chart-edges.ts';
import { recordKey } from '../support/group-records.ts';
import { Harness } from '../support/harness.ts';
import { GROUP_ID } from '../support/lone-coordinator.ts';
import type { Said } from '../support/play-member.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { Stage } from '../support/stage.ts';
import { readTasks } from '../support/task-notation.ts';
import { WalkedEdges } from '../support/walked-edges.ts';

function chartNamed(name: Chart['name']): Chart {
  const chart = charts.find((each) => each.name === name);
  if (chart === undefined) throw new Error(`No chart is named ${name}`);
  return chart;
}

/** Edges that no history reaches, and why. Every other one has to be walked, and none of these. */
const UNREACHED: Readonly<Record<Chart['name'], Readonly<Record<string, string>>>> = {
  group: {
    'Assigning SETTLED [always] Stable':
      'no member is at an epoch before the target of that epoch is there (REC-3)',
    'Stable SETTLED [hasNoMembers] Empty':
      'the tombstone of its assignment unsettles a member before that of its registration takes it out (LOG-3)',
  },
  member: {
    'unknown HEARTBEAT [mustRevoke] unrevokedTasks':
      'only a member that owns nothing is let go on, and so owes nothing (REC-12)',
  },
  shard: {},
  description: Object.fromEntries(
    edgesOf(chartNamed('description')).map((edge) => [edge, 'nothing keeps descriptions yet']),
  ),
};

function expectWalked(name: Chart['name'], walked: ReadonlySet<string>): void {
  const missing = edgesOf(chartNamed(name)).filter((edge) => !walked.has(edge));
  expect(missing.sort()).to.deep.equal(Object.keys(UNREACHED[name]).sort());
}

describe('every edge is walked by real commands, or named with the reason why none does it', () => {
  const edges = new WalkedEdges();

  before(() => {
    const random = new SeededRandom(1);
    for (const { setup } of PLANS) {
      for (let walk = 0; walk < 20; walk++) {
        for (const { before, move, played } of wander(setup, random, 60)) {
          edges.watch(before, move, played);
        }
      }
    }
  });

  it('of the chart of a group', () => {
    loadCompacted(edges, { waiting: false });
    loadCompacted(edges, { waiting: true });
    expectWalked('group', edges.group);
  });

  it('of the chart of a member', () => {
    moveTargets(edges);
    for (const next of ['waits', 'gets its tasks', 'leaves'] as const) leaveUnknown(edges, next);
    expectWalked('member', edges.member);
  });

  it('of the chart of a shard', async () => {
    expectWalked('shard', await walkShards());
  });

  it('of the chart of a topology description', () => {
    expectWalked('description', new Set());
  });
});

/**
 * A log as Kafka's compaction leaves it: the last record of each key, in the order of their offsets. A static member
 * that names a new endpoint is registered anew without a new group epoch, so its registration comes after all else;
 * `waiting`: the run for its first tasks is still out, so there is nothing of it before.
 */
function loadCompacted(edges: WalkedEdges, { waiting }: { readonly waiting: boolean }): void {
  const stage = new Stage();
  const { coordinator } = stage;
  const as = (port: number) => ({
    with: { instanceId: 'i', userEndpoint: { host: 'h', port } },
  });
  stage.join('A', as(1));
  if (waiting) {
    stage.leave('A', { instanceId: 'i' });
    coordinator.holdRuns = true;
    stage.join('A', as(1));
  }
  stage.join('A', as(2));
  const last = new Map(coordinator.log.map((record, at) => [recordKey(record), at]));
  const compacted = coordinator.log.filter((record, at) => last.get(recordKey(record)) === at);
  edges.applied(
    emptySlot(GROUP_ID),
    compacted.filter(({ value }) => value !== null),
  );
}

/** Targets that change while members still move: A owes more before it has let go, B owes while it waits. */
function moveTargets(edges: WalkedEdges): void {
  const stage = new Stage({ in: 4 });
  const { coordinator } = stage;
  const join = (name: string, target: Readonly<Record<string, string>>) => {
    coordinator.assignor = ({ members }) => ({
      members: members.map(({ memberId }) => ({
        active: readTasks(target[memberId] ?? '[]'),
        standby: [],
      })),
      unassigned: [],
    });
    stage.join(name);
  };
  const beat = (name: string, said: Said) => {
    const before = coordinator.slot;
    stage.beat(name, said);
    edges.concluded(name, before, coordinator.slot);
  };
  join('A', { A: '0:[0-3]' });
  join('B', { A: '0:[0-2]', B: '0:[3]' });
  beat('A', 'silent');
  join('C', { A: '0:[0]', B: '0:[2-3]', C: '0:[1]' });
  beat('A', 'told');
  beat('B', 'silent');
  join('D', { A: '0:[0]', B: '0:[2]', C: '0:[1]', D: '0:[3]' });
  beat('B', 'told');
  beat('B', 'silent');
}

/**
 * B waits for tasks that A has, and a newer version writes a state of B that this one does not know. B owns nothing,
 * so that it is let go on; before or after A let go, or it leaves.
 */
function leaveUnknown(edges: WalkedEdges, next: 'waits' | 'gets its tasks' | 'leaves'): void {
  const stage = new Stage();
  const { coordinator } = stage;
  stage.join('A');
  stage.beat('A', 'told');
  stage.join('B');
  if (next === 'gets its tasks') {
    stage.beat('A');
    stage.beat('A', 'told');
  }
  const last = coordinator.log.findLast(
    (record) => record.type === 'currentAssignment' && record.memberId === 'B',
  );
  if (last?.type !== 'currentAssignment' || last.value === null) throw new Error('B has nothing');
  coordinator.log.push({ ...last, value: { ...last.value, state: 'unknown' } });
  coordinator.failOver();
  const before = coordinator.slot;
  const written = coordinator.log.length;
  if (next === 'leaves') stage.leave('B');
  else stage.beat('B', 'told');
  edges.applied(before, coordinator.log.slice(written));
  edges.concluded('B', before, coordinator.slot);
}

/** A log whose loads end when they are told to. */
class GatedLog extends MemoryLog {
  #end: (failed: boolean) => void = () => {};

  override async load(...given: Parameters<MemoryLog['load']>): Promise<void> {
    const failed = await new Promise<boolean>((resolve) => {
      this.#end = resolve;
    });
    if (failed) throw new LogError('KAFKA_STORAGE_ERROR', 'Load from the log: it is broken');
    await super.load(...given);
  }

  endLoad(failed: boolean): void {
    this.#end(failed);
  }
}

const SHARD_LIVES: readonly (readonly ShardEvent['type'][])[] = [
  ['CLOSE'],
  ['LOAD', 'CLOSE'],
  ['LOAD', 'LOADED', 'CLOSE'],
  ['LOAD', 'LOAD_FAILED', 'CLOSE'],
  ['LOAD', 'LOAD_FAILED', 'LOAD', 'LOADED'],
];

/** Shards that are loaded, well or not, and closed at every moment of it. */
async function walkShards(): Promise<ReadonlySet<string>> {
  const walked = new Set<string>();
  for (const life of SHARD_LIVES) {
    const recordLog = new GatedLog();
    const [shard] = new Harness({ recordLog, compute: assignDirectly }).shards.all;
    if (shard === undefined) throw new Error('There is no shard');
    let loading = Promise.resolve();
    for (const event of life) {
      const before = shard.life;
      if (event === 'LOAD') loading = shard.load();
      else if (event === 'CLOSE') shard.close();
      else {
        recordLog.endLoad(event === 'LOAD_FAILED');
        await loading;
      }
      walked.add(edgeTo(chartNamed('shard'), before, event, shard.life));
    }
    recordLog.endLoad(false);
    await loading;
  }
  return walked;
}
