import { expect } from 'chai';
import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { describeGroup } from '../../machines/decide/describe.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import { Stage } from '../support/stage.ts';
import { stickyAssignor } from '../support/sticky-assignor.ts';
import { readTasks, writeTasks } from '../support/task-notation.ts';

const MAX = 2n ** 63n - 1n;

/** TOPO-T over `in(4)` with so many warm-ups; the usual assignor of tests unless `sticky`. */
function stageWith(warmups: number, assignor?: 'sticky'): Stage {
  const stage = new Stage({ in: 4, topology: 'T' });
  const { coordinator } = stage;
  coordinator.settings = { ...coordinator.settings, numWarmupReplicas: warmups };
  if (assignor === 'sticky') coordinator.assignor = stickyAssignor;
  return stage;
}

/** What a heartbeat says of one task. */
function report(
  partition: number,
  offset: bigint,
  end: bigint,
): { readonly with: Partial<HeartbeatRequest> } {
  const list = (at: bigint): TaskOffset[] => [{ subtopologyId: '0', partition, offset: at }];
  return { with: { taskOffsets: list(offset), taskEndOffsets: list(end) } };
}

const groupOf = (stage: Stage) => stage.coordinator.slot.group;
const warmupsOf = (stage: Stage, name: string) => writeTasks(stage.member(name).told.warmup);
const activeOf = (stage: Stage, name: string) => writeTasks(stage.member(name).told.active);

/** Records of the targets so far; none are added by a refinement step. */
const targetsWritten = (stage: Stage) =>
  stage.coordinator.log.filter(({ type }) => type === 'targetMember').length;

describe('scenarios WU: warm-ups', () => {
  it('S15 A warm-up under way is not thrown away by a new computation', () => {
    const stage = stageWith(1, 'sticky');
    stage.join('A');
    stage.settle('A');
    stage.join('B');
    stage.settle('A', 'B');
    const underWay = warmupsOf(stage, 'B');
    expect(stage.member('B').told.warmup.length).to.equal(1);
    const partition = stage.member('B').told.warmup[0]?.partitions[0] ?? -1;
    stage.beat('B', 'silent', report(partition, 10_000n, 20_001n));
    stage.join('C');
    stage.settle('A', 'B', 'C');
    expect(groupOf(stage)?.targets.get('B')?.active).to.deep.equal(readTasks(underWay));
    expect(warmupsOf(stage, 'B')).to.equal(underWay);
    expect(activeOf(stage, 'A')).to.equal('0:[0-3]');
  });

  it('S17 Offsets are exact 64-bit numbers', () => {
    const stage = stageWith(1);
    const { coordinator } = stage;
    coordinator.settings = { ...coordinator.settings, acceptableRecoveryLag: 500n };
    stage.join('A');
    stage.settle('A');
    stage.join('B');
    stage.settle('A', 'B');
    expect(warmupsOf(stage, 'B')).to.equal('0:[2]');
    const staged = groupOf(stage)?.groupEpoch ?? 0;
    const hears = (offset: bigint, end: bigint) => {
      stage.beat('B', 'silent', report(2, offset, end));
      const { members } = describeGroup(coordinator.slot, {
        behaviour: coordinator.behaviour,
        settings: { assignorName: 'sticky', assignorSelected: true },
      });
      const said = members.find(({ memberId }) => memberId === 'B');
      expect([said?.taskOffsets[0]?.offset, said?.taskEndOffsets[0]?.offset]).to.deep.equal([
        offset,
        end,
      ]);
      return groupOf(stage)?.groupEpoch;
    };
    expect(hears(9_223_372_036_854_775_000n, MAX - 1n), 'a lag of 806').to.equal(staged);
    expect(hears(MAX, MAX), 'not started').to.equal(staged);
    expect(hears(9_007_199_254_740_992n, 9_007_199_254_741_493n), '501').to.equal(staged);
    expect(hears(9_007_199_254_740_992n, 9_007_199_254_741_492n), '500').to.equal(staged + 1);
  });

  it('S18 No report raises the epoch but one that shows a copy caught up', () => {
    const stage = stageWith(1);
    stage.join('A');
    stage.settle('A');
    stage.join('B');
    stage.settle('A', 'B');
    const epoch = groupOf(stage)?.groupEpoch ?? 0;
    const half = report(2, 50n, 20_000n).with;
    const reports: Partial<HeartbeatRequest>[] = [
      half,
      { taskOffsets: null, taskEndOffsets: half.taskEndOffsets ?? null },
      {},
      { taskOffsets: [] },
    ];
    for (const each of reports) stage.beat('B', 'silent', { with: each });
    expect(groupOf(stage)?.groupEpoch).to.equal(epoch);
    // The end is still the one reported before: each list stands for itself.
    stage.beat('B', 'silent', {
      with: { taskOffsets: report(2, 10_000n, 0n).with.taskOffsets ?? null },
    });
    expect(groupOf(stage)?.groupEpoch).to.equal(epoch + 1);
  });

  it('S19 A caught-up warm-up raises the epoch once, however often it is reported', () => {
    const stage = stageWith(1);
    let runs = 0;
    const { assignor } = stage.coordinator;
    stage.coordinator.assignor = (problem) => {
      runs++;
      return assignor(problem);
    };
    stage.join('A');
    stage.settle('A');
    stage.join('B');
    stage.settle('A', 'B');
    expect(warmupsOf(stage, 'B')).to.equal('0:[2]');
    const epoch = groupOf(stage)?.groupEpoch ?? 0;
    const [runsBefore, targetsBefore] = [runs, targetsWritten(stage)];
    for (let beat = 0; beat < 6; beat++) stage.beat('B', 'silent', report(2, 20_000n, 20_000n));
    expect(stage.describe()).to.deep.equal([
      `Reconciling ${epoch + 1}/${epoch + 1}`,
      `A ${epoch} 0:[0-3]|[]`,
      `B ${epoch + 1} []|[]`,
    ]);
    // A hears of it, lets go and says so; B is promoted in place, and the next warm-up starts.
    stage.beat('A');
    stage.beat('A', 'told');
    stage.beat('B', 'silent', report(2, 20_000n, 20_000n));
    expect([activeOf(stage, 'B'), warmupsOf(stage, 'B')]).to.deep.equal(['0:[2]', '[]']);
    stage.settle('A', 'B');
    expect([activeOf(stage, 'B'), warmupsOf(stage, 'B')]).to.deep.equal(['0:[2]', '0:[3]']);
    stage.beat('B', 'silent', report(3, 20_000n, 20_000n));
    stage.settle('A', 'B');
    expect(stage.describe().slice(1)).to.deep.equal([
      `A ${epoch + 3} 0:[0-1]|[]`,
      `B ${epoch + 3} 0:[2-3]|[]`,
    ]);
    expect([runs, targetsWritten(stage)]).to.deep.equal([runsBefore, targetsBefore]);
  });

  it('S20 Version 0 members get no warm-ups: their moves are granted without staging (step 2)', () => {
    const stage = stageWith(2);
    const warmups: (HeartbeatAnswer['warmupTasks'] | undefined)[] = [];
    stage.join('B');
    stage.settle('B');
    warmups.push(stage.join('A', { version: 0 })?.warmupTasks);
    const { intermediate } = stage.coordinator.slot.soft;
    expect([...(intermediate?.refinement.slices ?? ['none'])]).to.deep.equal([]);
    stage.beat('B');
    stage.beat('B', 'told');
    warmups.push(stage.beat('A', 'told', { version: 0 })?.warmupTasks);
    expect(warmups).to.deep.equal([[], []]);
    expect([activeOf(stage, 'A'), activeOf(stage, 'B')]).to.deep.equal(['0:[2-3]', '0:[0-1]']);
  });

  it('S39 Warm-ups and standbys are listed as standby partitions', () => {
    const stage = stageWith(1);
    const { coordinator } = stage;
    coordinator.settings = { ...coordinator.settings, numStandbyReplicas: 1 };
    coordinator.assignor = ({ members }) => ({
      members: members.map(({ memberId }) => {
        const owner = members.some((each) => each.memberId === 'B') ? 'B' : 'A';
        return {
          active: memberId === owner ? readTasks('0:[0-3]') : [],
          standby: memberId === 'C' ? readTasks('0:[1]') : [],
        };
      }),
      unassigned: [],
    });
    const at = (host: string) => ({ with: { userEndpoint: { host, port: 1 } } });
    stage.join('A', at('a'));
    stage.settle('A');
    stage.join('C', at('c'));
    stage.settle('A', 'C');
    stage.join('B', at('b'));
    stage.settle('A', 'B', 'C');
    const places = () => {
      const seen = stage.beat('C', 'silent', { with: { endpointInformationEpoch: -1 } });
      const map = seen?.partitionsByUserEndpoint ?? [];
      const text = (list: (typeof map)[number]['activePartitions']) =>
        list.map(({ topic, partitions }) => `${topic}:${partitions}`).join(' ');
      return map.map(
        ({ userEndpoint, activePartitions, standbyPartitions }) =>
          `${userEndpoint.host} ${text(activePartitions)}|${text(standbyPartitions)}`,
      );
    };
    const promote = (partition: number) => {
      stage.beat('B', 'silent', report(partition, 9n, 9n));
      stage.settle('A', 'B', 'C');
    };
    promote(0);
    expect(warmupsOf(stage, 'B')).to.equal('0:[1]');
    expect(places()).to.deep.equal(['a in:1,2,3|', 'b in:0|in:1', 'c |in:1']);
    const before = coordinator.slot.soft.endpointEpoch;
    promote(1);
    expect(places()).to.deep.equal(['a in:2,3|', 'b in:0,1|in:2', 'c |in:1']);
    expect(coordinator.slot.soft.endpointEpoch).to.be.above(before);
  });
});
