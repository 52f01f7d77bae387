import { expect } from 'chai';
import type { Profile } from '../../machines/model/profile.ts';
import type { GroupSettings } from '../../machines/model/settings.ts';
import { Stage, statusesOf } from '../support/stage.ts';
import { writeTasks } from '../support/task-notation.ts';

/** Two members at rest; one task each, with a changelog. */
function settled(profile: Profile = 'kip', settings: Partial<GroupSettings> = {}): Stage {
  const stage = new Stage({ topology: 'T', profile });
  change(stage, settings);
  stage.join('A');
  stage.settle('A');
  stage.join('B');
  stage.settle('A', 'B');
  return stage;
}

function change(stage: Stage, settings: Partial<GroupSettings>): void {
  stage.coordinator.settings = { ...stage.coordinator.settings, ...settings };
}

function groupEpoch({ coordinator }: Stage): number {
  return coordinator.slot.group?.groupEpoch ?? -1;
}

/** What is stored of the assignment configs, as `key=value`. */
function storedConfigs({ coordinator }: Stage): readonly string[] {
  const stored = coordinator.slot.group?.lastAssignmentConfigs ?? [];
  return stored.map(({ key, value }) => `${key}=${value}`);
}

type Row = {
  readonly change: Partial<GroupSettings>;
  /** How far the group's epoch goes by the change alone. */
  readonly raises: { readonly kip: number; readonly kafka: number };
};

const never = { kip: 0, kafka: 0 };

/** Every setting of a group, by Kafka's name without its prefix (records-and-configs 9). */
const rows: Readonly<Record<string, Row>> = {
  'num.standby.replicas': { change: { numStandbyReplicas: 1 }, raises: { kip: 1, kafka: 1 } },
  'rack.aware.assignment.tags': {
    change: { rackAwareAssignmentTags: ['zone'] },
    raises: { kip: 1, kafka: 1 },
  },
  'assignor.name': {
    change: { assignorName: 'sticky', assignorSelected: true },
    raises: { kip: 1, kafka: 0 },
  },
  'session.timeout.ms': { change: { sessionTimeoutMs: 50_000 }, raises: never },
  'heartbeat.interval.ms': { change: { heartbeatIntervalMs: 6_000 }, raises: never },
  'task.offset.interval.ms': { change: { taskOffsetIntervalMs: 15_000 }, raises: never },
  'acceptable.recovery.lag': { change: { acceptableRecoveryLag: 1n }, raises: never },
  'num.warmup.replicas': { change: { numWarmupReplicas: 5 }, raises: never },
  'assignment.interval.ms': { change: { assignmentIntervalMs: 9 }, raises: never },
  'initial.rebalance.delay.ms': { change: { initialRebalanceDelayMs: 9 }, raises: never },
};

describe('a changed setting of a living group', () => {
  it('is looked at here whatever it is (records-and-configs 9)', () => {
    const { settings } = settled().coordinator;
    const changed = Object.values(rows).flatMap((row) => Object.keys(row.change));
    expect(changed.sort()).to.deep.equal(Object.keys(settings).sort());
  });

  for (const profile of ['kip', 'kafka'] as const) {
    for (const [name, row] of Object.entries(rows)) {
      const raises = row.raises[profile];
      it(`${name}: ${raises === 0 ? 'raises no epoch' : 'raises the epoch once'}, at a beat (GE-7, RT-1, RT-2, ${profile})`, () => {
        const stage = settled(profile);
        const before = groupEpoch(stage);
        const { settings } = stage.coordinator;
        change(stage, row.change);
        expect(groupEpoch(stage), 'nobody has beaten yet').to.equal(before);
        stage.beat('A');
        expect(groupEpoch(stage), 'the first beat').to.equal(before + raises);
        stage.settle('A', 'B');
        expect(groupEpoch(stage), 'all others').to.equal(before + raises);
        stage.coordinator.settings = { ...settings };
        stage.settle('A', 'B');
        expect(groupEpoch(stage), 'as it was').to.equal(before + 2 * raises);
        change(stage, row.change);
        stage.coordinator.settings = { ...settings };
        stage.settle('A', 'B');
        expect(groupEpoch(stage), 'there and back between beats').to.equal(before + 2 * raises);
      });
    }
  }

  for (const profile of ['kip', 'kafka'] as const) {
    it(`raises no epoch where the selected assignor goes missing or comes back (${profile})`, () => {
      const own = { assignorName: 'own', assignorSelected: true };
      const stage = settled(profile, own);
      const { assignorMissing: _, ...settings } = stage.coordinator.settings;
      const before = groupEpoch(stage);
      const stored = storedConfigs(stage);
      change(stage, { assignorName: 'sticky', assignorSelected: false, assignorMissing: 'own' });
      stage.settle('A', 'B');
      stage.coordinator.settings = settings;
      stage.settle('A', 'B');
      expect(groupEpoch(stage)).to.equal(before);
      expect(storedConfigs(stage)).to.deep.equal(stored);
    });
  }

  it('shares the step of another cause in the same beat (RT-3)', () => {
    const stage = settled();
    const before = groupEpoch(stage);
    change(stage, { numStandbyReplicas: 1 });
    stage.join('C');
    expect(groupEpoch(stage)).to.equal(before + 1);
    expect(storedConfigs(stage)).to.deep.equal(['num.standby.replicas=1']);
    stage.settle('A', 'B', 'C');
    expect(groupEpoch(stage)).to.equal(before + 1);
  });

  it('raises the epoch at once and leaves the computation for later inside the assignment interval (RT-4)', () => {
    const stage = settled('kip', { assignmentIntervalMs: 10_000 });
    stage.pass(20_000, 'told', 'A', 'B');
    change(stage, { rackAwareAssignmentTags: ['zone'] });
    stage.settle('A', 'B');
    expect(stage.describe()[0], 'the interval was over').to.equal('Stable 4/4');
    change(stage, { numStandbyReplicas: 1 });
    expect(statusesOf(stage.beat('A'))).to.include('ASSIGNMENT_DELAYED');
    expect(stage.describe()[0]).to.equal('Assigning 5/4');
    stage.pass(10_000, 'told', 'A', 'B');
    expect(stage.describe()).to.deep.equal(['Stable 5/5', 'A 5 0:[0]|0:[1]', 'B 5 0:[1]|0:[0]']);
  });

  it('raises the epoch at once inside the initial delay, with which the computation waits (RT-4)', () => {
    const stage = new Stage({ topology: 'T' });
    change(stage, { initialRebalanceDelayMs: 3_000 });
    stage.join('A');
    stage.join('B');
    change(stage, { numStandbyReplicas: 1 });
    expect(statusesOf(stage.beat('A'))).to.include('ASSIGNMENT_DELAYED');
    expect(stage.describe()[0]).to.equal('Assigning 4/1');
    stage.pass(3_000, 'silent', 'A', 'B');
    stage.settle('A', 'B');
    expect(stage.describe()).to.deep.equal(['Stable 4/4', 'A 4 0:[0]|0:[1]', 'B 4 0:[1]|0:[0]']);
  });

  for (const way of ['a leave', 'a session that ends'] as const) {
    it(`is still noticed after ${way}, which stores what was (RT-5)`, () => {
      const stage = settled();
      change(stage, { numStandbyReplicas: 1 });
      if (way === 'a leave') stage.leave('B');
      else stage.deliver(stage.coordinator.advance(60_000));
      expect(storedConfigs(stage)).to.deep.equal(['num.standby.replicas=0']);
      const before = groupEpoch(stage);
      stage.join('C');
      expect(groupEpoch(stage), 'one step for both').to.equal(before + 1);
      expect(storedConfigs(stage)).to.deep.equal(['num.standby.replicas=1']);
    });
  }

  it('gives standbys up in the ordinary way when their number falls to 0 (RT-8)', () => {
    const stage = settled('kip', { numStandbyReplicas: 1 });
    expect(stage.describe().slice(1)).to.deep.equal(['A 3 0:[0]|0:[1]', 'B 3 0:[1]|0:[0]']);
    change(stage, { numStandbyReplicas: 0 });
    stage.settle('A', 'B');
    expect(stage.describe()).to.deep.equal(['Stable 4/4', 'A 4 0:[0]|[]', 'B 4 0:[1]|[]']);
    const told = stage.beat('A', 'silent');
    expect(told?.standbyTasks ?? null, 'nothing more to tell').to.equal(null);
  });

  it('lets a session timer that runs be, and starts the next with the new length', () => {
    const stage = settled();
    const { coordinator } = stage;
    const isThere = () => coordinator.slot.group?.members.has('B') === true;
    change(stage, { sessionTimeoutMs: 50_000 });
    stage.beat('B');
    stage.pass(46_000, 'told', 'A');
    expect(isThere(), 'after 46 s').to.equal(true);
    stage.pass(5_000, 'told', 'A');
    expect(isThere(), 'after 51 s').to.equal(false);

    stage.join('B');
    stage.settle('A', 'B');
    change(stage, { sessionTimeoutMs: 60_000 });
    stage.pass(49_000, 'told', 'A');
    expect(isThere(), 'its own timer was armed with 50 s').to.equal(true);
    stage.pass(2_000, 'told', 'A');
    expect(isThere(), 'after 51 s').to.equal(false);
  });

  it('tells intervals and lag with the next answer (RSP-1)', () => {
    const stage = settled();
    change(stage, {
      heartbeatIntervalMs: 7_000,
      taskOffsetIntervalMs: 15_000,
      acceptableRecoveryLag: 9_007_199_254_740_993n,
    });
    const answer = stage.beat('B');
    expect([
      answer?.heartbeatIntervalMs,
      answer?.taskOffsetIntervalMs,
      answer?.acceptableRecoveryLag,
    ]).to.deep.equal([7_000, 15_000, 9_007_199_254_740_993n]);
  });

  it('lets an initial delay that runs be, and takes the new one when the group is empty again', () => {
    const stage = new Stage();
    change(stage, { initialRebalanceDelayMs: 3_000 });
    stage.join('A');
    change(stage, { initialRebalanceDelayMs: 9_000 });
    stage.pass(3_000, 'silent', 'A');
    expect(stage.describe()[0]).to.equal('Stable 2/2');
    stage.leave('A');
    expect(statusesOf(stage.join('A'))).to.include('ASSIGNMENT_DELAYED');
    stage.pass(8_000, 'silent', 'A');
    expect(stage.describe()[0]).to.equal('Assigning 4/3');
    stage.pass(1_000, 'silent', 'A');
    expect(stage.describe()[0]).to.equal('Stable 4/4');
  });

  it('goes by an assignment interval from the next computation on', () => {
    const stage = settled();
    change(stage, { assignmentIntervalMs: 60_000 });
    stage.leave('B');
    expect(statusesOf(stage.beat('A'))).to.include('ASSIGNMENT_DELAYED');
    change(stage, { assignmentIntervalMs: 0 });
    const answer = stage.beat('A');
    expect(writeTasks(answer?.activeTasks ?? [])).to.equal('0:[0-1]');
  });

  it('tells members of version 1 which new tags they lack, and others nothing (S16, RSP-3)', () => {
    const stage = settled();
    change(stage, { rackAwareAssignmentTags: ['zone', 'cluster'] });
    const beat = stage.beat('A', 'silent', { with: { clientTags: [{ key: 'zone', value: '1' }] } });
    expect(beat?.statuses).to.deep.equal([
      {
        status: 'MISSING_CLIENT_TAGS',
        detail: 'The member lacks the client tag cluster',
      },
    ]);
    change(stage, { rackAwareAssignmentTags: [] });
    expect(statusesOf(stage.beat('A'))).to.deep.equal([]);
  });
});
