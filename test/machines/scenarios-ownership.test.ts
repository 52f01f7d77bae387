import { expect } from 'chai';
import { activeOf, errorOf, Stage, statusesOf } from '../support/stage.ts';

describe('scenarios RC: reconciliation and ownership', () => {
  for (const profile of ['kip', 'kafka'] as const) {
    it(`S07 A response carries all three task lists or none (${profile})`, () => {
      const stage = new Stage({ profile, topology: 'T' });
      const nulls: number[] = [];
      const keep = (answer: ReturnType<Stage['beat']>) => {
        const lists = [answer?.activeTasks, answer?.standbyTasks, answer?.warmupTasks];
        nulls.push(lists.filter((list) => list === null).length);
      };
      keep(stage.join('A'));
      keep(stage.join('B'));
      stage.settle('A', 'B');
      const { coordinator } = stage;
      coordinator.settings = { ...coordinator.settings, numStandbyReplicas: 1 };
      for (let round = 0; round < 4; round++) {
        for (const name of ['A', 'B']) keep(stage.beat(name, 'told'));
      }
      expect(new Set(nulls)).to.deep.equal(new Set([0, 3]));
      expect(stage.member('A').told.standby).not.to.deep.equal([]);
      expect(nulls.at(-1)).to.equal(3);
    });

    it(`S08 A task is offered to its new owner only after the old owner let go (${profile})`, () => {
      const stage = new Stage({ profile });
      stage.join('A');
      stage.settle('A');
      stage.join('B');
      stage.beat('B', 'told');
      stage.beat('B', 'told');
      expect(stage.member('B').told.active).to.deep.equal([]);
      expect(activeOf(stage.beat('A'))).to.equal('0:[0]');
      stage.beat('B');
      expect(stage.member('B').told.active).to.deep.equal([]);
      stage.beat('A', 'told');
      expect(activeOf(stage.beat('B'))).to.equal('0:[1]');
    });

    it(`S09 When a member goes, only its own tasks become free (${profile})`, () => {
      for (const restarts of [false, true]) {
        const stage = new Stage({ profile, in: 4 });
        stage.join('A');
        stage.join('B');
        stage.settle('A', 'B');
        expect(stage.describe().slice(1)).to.deep.equal(['A 3 0:[0-1]|[]', 'B 3 0:[2-3]|[]']);
        stage.leave('B');
        if (restarts) stage.coordinator.failOver();
        stage.coordinator.assignor = ({ members }) => ({
          members: members.map(({ memberId }) => ({
            active: memberId === 'C' ? [{ subtopologyId: '0', partitions: [0, 1, 2, 3] }] : [],
            standby: [],
          })),
          unassigned: [],
        });
        expect(activeOf(stage.join('C'))).to.equal('0:[2-3]');
        stage.beat('A');
        expect(activeOf(stage.beat('C'))).to.not.equal('0:[0-3]');
        stage.beat('A', 'told');
        expect(activeOf(stage.beat('C'))).to.equal('0:[0-3]');
      }
    });

    it(`S56 A null task list means "as before"; only an empty list means "nothing" (${profile})`, () => {
      const stage = new Stage({ profile });
      stage.join('A');
      stage.settle('A');
      stage.join('B');
      stage.beat('A');
      const { epoch } = stage.member('A');
      expect(stage.beat('A')?.memberEpoch).to.equal(epoch);
      stage.beat('B');
      expect(stage.member('B').told.active).to.deep.equal([]);
      expect(stage.beat('A', 'told')?.memberEpoch).to.equal(epoch + 1);
      expect(activeOf(stage.beat('B'))).to.equal('0:[1]');
    });
  }
});

describe('scenarios TM: timers and delays', () => {
  it('S30 After a load every member has a timer, whether it speaks or not', () => {
    const stage = new Stage();
    stage.join('A');
    stage.join('B');
    stage.settle('A', 'B');
    stage.coordinator.failOver();
    expect(stage.coordinator.timers).to.deep.equal(['session A', 'session B']);
    stage.pass(46_000, 'told', 'A');
    expect(stage.describe().slice(1)).to.deep.equal(['A 4 0:[0-1]|[]']);
  });

  it('S30 variant: a revocation owed at the restart still has its timeout', () => {
    const stage = new Stage();
    stage.join('A');
    stage.settle('A');
    stage.join('B');
    stage.beat('A');
    stage.coordinator.failOver();
    stage.pass(59_000, 'all', 'A', 'B');
    expect(errorOf(stage.beat('A', 'all'))).to.equal('NONE');
    stage.coordinator.advance(1000);
    expect(errorOf(stage.beat('A', 'all', { lost: true }))).to.equal('UNKNOWN_MEMBER_ID');
  });

  it('S31 The revocation timer runs with the newest timeout, and only while that revocation lasts', () => {
    const start = () => {
      const stage = new Stage({ in: 3 });
      stage.join('A');
      stage.settle('A');
      stage.join('B');
      stage.beat('A', 'silent', { with: { rebalanceTimeoutMs: 10_000 } });
      expect(stage.coordinator.slot.group?.members.get('A')?.state).to.equal('unrevokedTasks');
      return stage;
    };
    const isThere = (stage: Stage) => stage.coordinator.slot.group?.members.has('A');

    const stubborn = start();
    stubborn.pass(9000, 'all', 'A');
    expect(isThere(stubborn)).to.equal(true);
    stubborn.coordinator.advance(1000);
    expect(isThere(stubborn)).to.equal(false);

    const willing = start();
    willing.pass(5000, 'all', 'A');
    willing.beat('A', 'told');
    willing.pass(60_000, 'told', 'A', 'B');
    expect(isThere(willing)).to.equal(true);

    const again = start();
    again.pass(5000, 'all', 'A');
    again.settle('A', 'B');
    again.pass(3000, 'told', 'A', 'B');
    again.join('C');
    again.beat('A');
    expect(again.coordinator.slot.group?.members.get('A')?.state).to.equal('unrevokedTasks');
    again.pass(9000, 'all', 'A');
    expect(isThere(again)).to.equal(true);
    again.coordinator.advance(1000);
    expect(isThere(again)).to.equal(false);
  });

  for (const profile of ['kip', 'kafka'] as const) {
    it(`S32 The initial delay gathers members, starts anew for an emptied group, and always ends (${profile})`, () => {
      const stage = new Stage({ profile, in: 8 });
      const { coordinator } = stage;
      coordinator.settings = { ...coordinator.settings, initialRebalanceDelayMs: 3000 };
      const gather = (one: string, other: string) => {
        stage.join(one);
        coordinator.advance(1000);
        stage.join(other);
        coordinator.advance(1000);
        for (const name of [one, other]) {
          const answer = stage.beat(name, 'told');
          expect(statusesOf(answer)).to.deep.equal(['ASSIGNMENT_DELAYED']);
          expect(stage.member(name).told.active).to.deep.equal([]);
        }
        coordinator.advance(1000);
        stage.settle(one, other);
        const tasks = [one, other].map((name) => stage.member(name).told.active[0]?.partitions);
        expect(tasks).to.deep.equal([
          [0, 2, 4, 6],
          [1, 3, 5, 7],
        ]);
        stage.leave(one);
        stage.leave(other);
      };
      gather('A', 'B');
      gather('A2', 'B2');
      stage.join('A3');
      coordinator.advance(1000);
      stage.leave('A3');
      coordinator.advance(5000);
      expect(coordinator.timers).to.deep.equal([]);
      stage.join('A4');
      expect(coordinator.timers).to.deep.equal(['initial delay', 'session A4']);
      // A restart in the middle: the delay does not run on, and does not run for ever.
      coordinator.advance(1000);
      coordinator.failOver();
      expect(coordinator.timers).to.deep.equal(['session A4']);
      stage.beat('A4', 'told');
      expect(stage.member('A4').told.active[0]?.partitions).to.have.length(8);
    });
  }
});

describe('scenarios PR: persistence and replay', () => {
  it('S33 Readiness is in the log, not in the object that served the last beat', () => {
    const stage = new Stage({ topology: 'T' });
    stage.join('A');
    stage.settle('A');
    expect(stage.describe()[0]).to.equal('Stable 2/2');
    stage.coordinator.failOver();
    expect(stage.describe()[0]).to.equal('Stable 2/2');
    stage.coordinator.setTopic('in', 0);
    stage.beat('A', 'told');
    expect(stage.describe()[0]).to.match(/^NotReady /);
    stage.coordinator.failOver();
    expect(stage.describe()[0]).to.match(/^NotReady /);
  });

  it('S54 An upgrade that knows one more config key is not a config change', () => {
    const bumps = (profile: 'kip' | 'kafka', keys: readonly string[]) => {
      const stage = new Stage({ profile });
      stage.join('A');
      stage.settle('A');
      const { coordinator } = stage;
      const { group } = coordinator.slot;
      if (group === undefined) throw new Error('no group');
      coordinator.slot = {
        ...coordinator.slot,
        group: { ...group, lastAssignmentConfigs: keys.map((key) => ({ key, value: '0' })) },
      };
      stage.beat('A', 'told');
      return (coordinator.slot.group?.groupEpoch ?? 0) - group.groupEpoch;
    };
    expect(bumps('kip', ['num.standby.replicas'])).to.equal(0);
    expect(bumps('kip', [])).to.equal(0);
    expect(bumps('kip', ['a.newer.key', 'num.standby.replicas'])).to.equal(0);
    expect(bumps('kafka', ['num.standby.replicas'])).to.equal(0);
    expect(bumps('kafka', [])).to.equal(1);
    expect(bumps('kafka', ['a.newer.key', 'num.standby.replicas'])).to.equal(1);
  });
});

describe('scenarios AC: asynchronous work', () => {
  it("S62 An assignor's result fits the group as it is now", () => {
    const stage = new Stage({ in: 4 });
    const { coordinator } = stage;
    stage.join('A');
    stage.settle('A');
    coordinator.holdRuns = true;
    expect(stage.join('B')).to.equal(undefined);
    stage.leave('B');
    coordinator.holdRuns = false;
    const { records } = coordinator.release();
    expect(
      records.filter((record) => 'memberId' in record && record.memberId === 'B'),
    ).to.deep.equal([]);
    stage.settle('A');
    expect(stage.describe()).to.deep.equal(['Stable 4/4', 'A 4 0:[0-3]|[]']);
    coordinator.failOver();
    expect(stage.describe()).to.deep.equal(['Stable 4/4', 'A 4 0:[0-3]|[]']);
  });

  it('S63 A result is for the group it was computed for, not for a namesake', () => {
    for (const restart of [false, true]) {
      const stage = new Stage({ in: 4 });
      const { coordinator } = stage;
      coordinator.holdRuns = true;
      stage.join('A');
      stage.leave('A');
      stage.deleteGroup();
      if (restart) coordinator.failOver();
      stage.join('Z');
      expect(coordinator.heldRuns).to.have.length(2);
      const dropped = coordinator.release();
      expect([dropped.records, dropped.answer]).to.deep.equal([[], undefined]);
      stage.deliver(coordinator.release());
      stage.settle('Z');
      expect(stage.describe()).to.deep.equal(['Stable 2/2', 'Z 2 0:[0-3]|[]']);
    }
  });

  it('S63 variant: a run that dies is tried again, no sooner than an interval later (OFF-6)', () => {
    const stage = new Stage({ in: 4 });
    const { coordinator } = stage;
    coordinator.settings = { ...coordinator.settings, assignmentIntervalMs: 1000 };
    coordinator.holdRuns = true;
    stage.join('A');
    const failed = coordinator.fail('the thread died');
    expect(statusesOf(failed.answer)).to.deep.equal(['ASSIGNMENT_DELAYED']);
    stage.deliver(failed);
    coordinator.advance(999);
    expect(statusesOf(stage.beat('A', 'told'))).to.deep.equal(['ASSIGNMENT_DELAYED']);
    expect(coordinator.heldRuns).to.have.length(0);
    coordinator.advance(1);
    stage.beat('A', 'told');
    stage.deliver(coordinator.release());
    stage.settle('A');
    expect(stage.describe()).to.deep.equal(['Stable 2/2', 'A 2 0:[0-3]|[]']);
  });
});
