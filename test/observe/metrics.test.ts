import { expect } from 'chai';
import type { ShardStatus } from '../../actors/group-coordinator.ts';
import { FIGURES } from '../../machines/model/look-back.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { VERSION } from '../../src/version.ts';

type FigureName = (typeof FIGURES)[number];

const noGroups = { Empty: 0, NotReady: 0, Assigning: 0, Reconciling: 0, Stable: 0, Dead: 0 };

function shard(status: Partial<ShardStatus>): ShardStatus {
  return {
    shard: 0,
    state: 'active',
    groups: 0,
    simpleGroups: 0,
    members: 0,
    committedOffsets: 0,
    groupsByState: noGroups,
    queued: 0,
    ...status,
  };
}

/** The lines of the metrics whose name is given, without comments. */
async function linesOf(text: Promise<string>, name: string): Promise<readonly string[]> {
  return (await text).split('\n').filter((line) => new RegExp(`^${name}(_\\w+)?[ {]`).test(line));
}

describe('createMetrics()', () => {
  it('prints a sample in every line that is no comment', async () => {
    const metrics = createMetrics();
    metrics.runtime.assignmentRun('assigned', 12);
    const lines = (await metrics.text()).split('\n').filter((line) => line !== '');
    for (const line of lines) {
      expect(line).to.match(/^(# (HELP|TYPE) \S+ .+|[a-z_]\w*(\{[^}]*\})? [-+\w.]+)$/);
    }
  });

  it("counts by name and reason how often one of our assignors stood in for a user's own", async () => {
    const metrics = createMetrics();
    const standIn = { assignor: 'sticky', insteadOf: 'mine', reason: 'anything' } as const;
    for (const fault of ['timeout', 'resting', 'timeout'] as const) {
      metrics.runtime.assignorStoodIn({ ...standIn, fault });
    }
    expect(await linesOf(metrics.text(), 'assignor_fallback_count')).to.deep.equal([
      'assignor_fallback_count{assignor="mine",reason="timeout"} 2',
      'assignor_fallback_count{assignor="mine",reason="resting"} 1',
    ]);
  });

  it("counts by name and reason how often the process of a user's own assignor ended while idle", async () => {
    const metrics = createMetrics();
    for (const fault of ['ended', 'memory', 'ended'] as const) {
      metrics.moduleEndedIdle('mine', fault);
    }
    expect(await linesOf(metrics.text(), 'assignor_idle_end_count')).to.deep.equal([
      'assignor_idle_end_count{assignor="mine",reason="ended"} 2',
      'assignor_idle_end_count{assignor="mine",reason="memory"} 1',
    ]);
  });

  it('tells the version of the build', async () => {
    const lines = await linesOf(createMetrics().text(), 'build_info');
    expect(lines).to.deep.equal([`build_info{version="${VERSION}"} 1`]);
  });

  it('shows every state of groups, with 0 where there is none (MT-3)', async () => {
    const metrics = createMetrics();
    metrics.watchShards(() => [
      shard({ groups: 3, members: 7, groupsByState: { ...noGroups, Stable: 2, Empty: 1 } }),
      shard({ groups: 1, simpleGroups: 2, members: 1, groupsByState: { ...noGroups, Stable: 1 } }),
    ]);
    expect(await linesOf(metrics.text(), 'streams_group_count')).to.deep.equal([
      'streams_group_count{state="Empty"} 1',
      'streams_group_count{state="NotReady"} 0',
      'streams_group_count{state="Assigning"} 0',
      'streams_group_count{state="Reconciling"} 0',
      'streams_group_count{state="Stable"} 3',
      'streams_group_count{state="Dead"} 0',
    ]);
    expect(await linesOf(metrics.text(), 'group_count')).to.deep.equal([
      'group_count{protocol="classic"} 2',
      'group_count{protocol="consumer"} 0',
      'group_count{protocol="share"} 0',
      'group_count{protocol="streams"} 4',
    ]);
    expect(await linesOf(metrics.text(), 'streams_group_member_count')).to.deep.equal([
      'streams_group_member_count 8',
    ]);
  });

  it('shows shards by state', async () => {
    const metrics = createMetrics();
    metrics.watchShards(() => [shard({}), shard({ state: 'loading', queued: 4 })]);
    expect(await linesOf(metrics.text(), 'num_partitions')).to.deep.equal([
      'num_partitions{state="initial"} 0',
      'num_partitions{state="loading"} 1',
      'num_partitions{state="active"} 1',
      'num_partitions{state="failed"} 0',
      'num_partitions{state="closed"} 0',
    ]);
    expect(await linesOf(metrics.text(), 'event_queue_size')).to.deep.equal(['event_queue_size 4']);
  });

  it('counts meters from 0, and twice the same at two scrapes', async () => {
    const metrics = createMetrics();
    expect(await linesOf(metrics.text(), 'streams_group_rebalance_count')).to.deep.equal([
      'streams_group_rebalance_count 0',
    ]);
    metrics.runtime.rebalanced();
    metrics.runtime.offsetsCommitted(3);
    metrics.runtime.offsetsCommitted(2);
    await metrics.text();
    expect(await linesOf(metrics.text(), 'offset_commit_count')).to.deep.equal([
      'offset_commit_count 5',
    ]);
    expect(await linesOf(metrics.text(), 'streams_group_rebalance_count')).to.deep.equal([
      'streams_group_rebalance_count 1',
    ]);
  });

  it('puts durations into buckets that add up', async () => {
    const metrics = createMetrics();
    for (const ms of [0.01, 1, 1.5, 100_000]) metrics.runtime.committed(ms);
    const lines = await linesOf(metrics.text(), 'event_purgatory_time_seconds');
    expect(lines).to.include.members([
      'event_purgatory_time_seconds_bucket{le="0.00005"} 1',
      'event_purgatory_time_seconds_bucket{le="0.001"} 2',
      'event_purgatory_time_seconds_bucket{le="0.0025"} 3',
      'event_purgatory_time_seconds_bucket{le="60"} 3',
      'event_purgatory_time_seconds_bucket{le="+Inf"} 4',
      'event_purgatory_time_seconds_count 4',
    ]);
    const sum = lines.find((line) => line.startsWith('event_purgatory_time_seconds_sum'));
    expect(Number(sum?.split(' ')[1])).to.be.closeTo(100.002_51, 1e-9);
  });

  it('parts the time of a run into that on its thread and the rest', async () => {
    const metrics = createMetrics();
    metrics.runtime.assignmentRun('assigned', 12, 2);
    metrics.runtime.assignmentRun('failed', 30);
    const sums = async (name: string) => linesOf(metrics.text(), `${name}_seconds_(sum|count)`);
    expect(await sums('background_processing_time')).to.deep.equal([
      'background_processing_time_seconds_sum{outcome="assigned"} 0.002',
      'background_processing_time_seconds_count{outcome="assigned"} 1',
      'background_processing_time_seconds_sum{outcome="failed"} 0.03',
      'background_processing_time_seconds_count{outcome="failed"} 1',
    ]);
    expect(await sums('background_queue_time')).to.deep.equal([
      'background_queue_time_seconds_sum 0.01',
      'background_queue_time_seconds_count 1',
    ]);
  });

  it('counts what targets move, and how even they are', async () => {
    const metrics = createMetrics();
    const figures = {
      ...(Object.fromEntries(FIGURES.map((name) => [name, 0])) as Record<FigureName, number>),
      tagDiversity: [],
    };
    const stateful = { statefulTasks: 4, statefulMoved: 2, copiesBuilt: 3, statefulSpread: 1 };
    metrics.runtime.targetInstalled({
      ...figures,
      ...stateful,
      moved: 5,
      leastMoved: 4,
      activeSpread: 2,
    });
    metrics.runtime.targetInstalled({ ...figures, moved: 1, leastMoved: 2, activeSpread: 3 });
    const lines = await linesOf(metrics.text(), 'streams_group(_\\w+)*_task');
    expect(lines.filter((line) => !/le="(0|1|\d\d+)"/.test(line))).to.deep.equal([
      'streams_group_task_move_count 6',
      'streams_group_excess_task_move_count 1',
      'streams_group_stateful_task_move_count 2',
      'streams_group_task_copy_count 3',
      'streams_group_active_task_spread_bucket{le="2"} 1',
      'streams_group_active_task_spread_bucket{le="5"} 2',
      'streams_group_active_task_spread_bucket{le="+Inf"} 2',
      'streams_group_active_task_spread_sum 5',
      'streams_group_active_task_spread_count 2',
      'streams_group_stateful_task_spread_bucket{le="2"} 1',
      'streams_group_stateful_task_spread_bucket{le="5"} 1',
      'streams_group_stateful_task_spread_bucket{le="+Inf"} 1',
      'streams_group_stateful_task_spread_sum 1',
      'streams_group_stateful_task_spread_count 1',
    ]);
  });

  it('names requests by API, and keeps keys nobody knows in one series', async () => {
    const metrics = createMetrics();
    for (const key of [88, 88, 3, 999, -5]) metrics.server.requestAnswered(key, 1);
    const lines = await linesOf(metrics.text(), 'request_time_seconds_count');
    expect(lines).to.deep.equal([
      'request_time_seconds_count{api="StreamsGroupHeartbeat"} 2',
      'request_time_seconds_count{api="Metadata"} 1',
      'request_time_seconds_count{api="other"} 2',
    ]);
  });

  it('counts connections', async () => {
    const metrics = createMetrics();
    metrics.server.connectionOpened();
    metrics.server.connectionOpened();
    metrics.server.connectionClosed();
    metrics.server.connectionRefused();
    expect(await linesOf(metrics.text(), 'connection')).to.deep.equal([
      'connection_count 1',
      'connection_creation_count 2',
      'connection_refused_count 1',
    ]);
  });

  it('counts errors by API and name; codes that nobody knows share one', async () => {
    const metrics = createMetrics();
    for (const code of [25, 25, 113]) metrics.server.errorAnswered('OffsetCommit', code);
    for (const code of [25, 9_999, -1]) metrics.server.errorAnswered('StreamsGroupHeartbeat', code);
    expect(await linesOf(metrics.text(), 'request_error_count')).to.deep.equal([
      'request_error_count{api="OffsetCommit",error="UNKNOWN_MEMBER_ID"} 2',
      'request_error_count{api="OffsetCommit",error="STALE_MEMBER_EPOCH"} 1',
      'request_error_count{api="StreamsGroupHeartbeat",error="UNKNOWN_MEMBER_ID"} 1',
      'request_error_count{api="StreamsGroupHeartbeat",error="UNKNOWN_SERVER_ERROR"} 2',
    ]);
  });

  it("shows what became of a gateway's hold on its groups, every state of it", async () => {
    const metrics = createMetrics();
    expect(await linesOf(metrics.text(), 'placeholder_count')).to.deep.equal([]);
    metrics.watchPlaceholders(
      () =>
        new Map([
          ['joined', 3],
          ['conflict', 1],
        ] as const),
    );
    expect(await linesOf(metrics.text(), 'placeholder_count')).to.deep.equal([
      'placeholder_count{state="joined"} 3',
      'placeholder_count{state="conflict"} 1',
      'placeholder_count{state="forbidden"} 0',
      'placeholder_count{state="unavailable"} 0',
      'placeholder_count{state="fenced"} 0',
    ]);
  });
});
