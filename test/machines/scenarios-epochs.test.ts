import { expect } from 'chai';
import { activeOf, errorOf, Stage, statusesOf } from '../support/stage.ts';
import { readTasks } from '../support/task-notation.ts';

const EMPTY = { activeTasks: [], standbyTasks: [], warmupTasks: [] };

describe('scenarios EP: epochs, fencing, lifecycle', () => {
  for (const profile of ['kip', 'kafka'] as const) {
    it(`S01 A member that repeats an unanswered beat is heard; any other old or future epoch is fenced (${profile})`, () => {
      const stage = new Stage({ profile });
      stage.join('A');
      stage.settle('A');
      stage.join('B');
      stage.beat('A');
      const { epoch } = stage.member('A');
      const acknowledged = stage.beat('A', 'told', { lost: true });
      expect(acknowledged?.memberEpoch).to.equal(epoch + 1);
      const written = stage.coordinator.log.length;

      for (let repeat = 0; repeat < 2; repeat++) {
        const again = stage.beat('A', 'told', { lost: true });
        expect([again?.error, again?.memberEpoch]).to.deep.equal(['NONE', epoch + 1]);
      }
      expect(stage.coordinator.log.length).to.equal(written);

      const back = stage.coordinator.keep();
      const kept = { ...EMPTY, activeTasks: readTasks('0:[0]') };
      const wrong = [
        { ...EMPTY, memberEpoch: epoch, activeTasks: readTasks('0:[0-1]') },
        { memberEpoch: epoch, activeTasks: null, standbyTasks: null, warmupTasks: null },
        { ...kept, memberEpoch: epoch - 1 },
        { ...kept, memberEpoch: epoch + 2 },
      ];
      for (const fields of wrong) {
        back();
        const fenced = stage.beat('A', 'told', { lost: true, with: fields });
        expect(errorOf(fenced)).to.equal('FENCED_MEMBER_EPOCH');
      }
    });

    it(`S02 A fenced member comes back at once with epoch 0 (${profile})`, () => {
      const removed = profile === 'kip';
      const stage = new Stage({ profile, in: 4 });
      stage.join('A');
      for (let times = 0; times < 2; times++) {
        stage.join('B');
        stage.settle('A', 'B');
        stage.leave('B');
        stage.settle('A');
      }
      const check = () => {
        const before = stage.coordinator.slot.group?.groupEpoch ?? 0;
        const fenced = stage.beat('A', 'told', { lost: true, with: { memberEpoch: 999 } });
        expect(errorOf(fenced)).to.equal('FENCED_MEMBER_EPOCH');
        expect(stage.coordinator.slot.group?.members.has('A')).to.equal(!removed);
        const answer = stage.join('A');
        expect(errorOf(answer)).to.equal('NONE');
        expect(answer?.memberEpoch).to.be.above(0);
        expect([answer?.activeTasks, answer?.standbyTasks, answer?.warmupTasks]).not.to.include(
          null,
        );
        const after = stage.coordinator.slot.group?.groupEpoch ?? 0;
        expect(after - before).to.equal(removed ? 2 : 0);
      };
      check();
      // (b) A owes a revocation: its join lets go, and B gets what it waits for.
      stage.settle('A');
      stage.join('B');
      stage.beat('A');
      check();
      stage.settle('A', 'B');
      expect(stage.member('B').told.active).not.to.deep.equal([]);
      // (c) A waits for B.
      stage.leave('A');
      stage.settle('B');
      stage.join('A');
      check();
      stage.settle('A', 'B');
      expect(stage.member('A').told.active).not.to.deep.equal([]);
    });

    it(`S03 No member is ever given epoch 0 (${profile})`, () => {
      const stage = new Stage({ profile });
      const { coordinator } = stage;
      coordinator.settings = { ...coordinator.settings, initialRebalanceDelayMs: 3000 };
      const first = stage.join('A');
      expect(first?.memberEpoch).to.be.above(0);
      expect(first?.memberEpoch).to.be.below(coordinator.slot.group?.groupEpoch ?? 0);
      expect(statusesOf(first)).to.deep.equal(['ASSIGNMENT_DELAYED']);
      expect(activeOf(first)).to.equal('[]');
      coordinator.advance(3000);
      expect(activeOf(stage.beat('A'))).to.equal('0:[0-1]');
      // The variant: the run is held instead.
      const held = new Stage({ profile });
      held.coordinator.holdRuns = true;
      held.coordinator.coordinator = {
        ...held.coordinator.coordinator,
        assignorAnswerWaitMs: 0,
      };
      const answer = held.join('A');
      expect(answer?.memberEpoch).to.be.above(0);
      expect(statusesOf(answer)).to.deep.equal(['ASSIGNMENT_DELAYED']);
    });

    it(`S04 Reported tasks are checked against the topology before anything is stored (${profile})`, () => {
      const stage = new Stage({ profile });
      stage.join('A');
      stage.settle('A');
      const { slot } = stage.coordinator;
      const offsets = { taskOffsets: [{ subtopologyId: '0', partition: 0, offset: 7n }] };
      const wrong = [
        { ...EMPTY, activeTasks: readTasks('7:[0]') },
        { ...EMPTY, activeTasks: readTasks('0:[99]') },
        { ...EMPTY, standbyTasks: [{ subtopologyId: '0', partitions: [-1] }] },
        { activeTasks: [], standbyTasks: [], warmupTasks: null },
      ];
      for (const fields of wrong) {
        const refused = stage.beat('A', 'told', { lost: true, with: { ...fields, ...offsets } });
        expect(errorOf(refused)).to.equal('INVALID_REQUEST');
        expect(stage.coordinator.slot).to.equal(slot);
      }
      const both = readTasks('0:[0]');
      const overlap = { ...EMPTY, activeTasks: both, standbyTasks: both };
      const answer = stage.beat('A', 'told', { lost: true, with: overlap });
      expect(errorOf(answer)).to.equal(profile === 'kip' ? 'INVALID_REQUEST' : 'NONE');
      expect(stage.coordinator.slot.group).to.equal(slot.group);
    });

    it(`S05 A shutdown request that rides on a leave reaches everybody (${profile})`, () => {
      const stage = new Stage({ profile, in: 3 });
      for (const name of ['A', 'B', 'C']) stage.join(name);
      stage.settle('A', 'B', 'C');
      stage.leave('A', { shutdownApplication: true });
      for (let times = 0; times < 3; times++) {
        for (const name of ['B', 'C']) {
          const answer = stage.beat(name, 'told', { with: { shutdownApplication: times === 2 } });
          expect(statusesOf(answer)).to.include('SHUTDOWN_APPLICATION');
          expect(answer?.statuses.at(-1)?.detail).to.include('"A"');
        }
      }
      stage.leave('B');
      stage.leave('C');
      expect(statusesOf(stage.join('D'))).to.deep.equal([]);
      // A stranger's leave is refused; only kafka has marked the group by then (LEAVE-7).
      const refused = stage.leave('X', { shutdownApplication: true });
      expect(errorOf(refused)).to.equal('UNKNOWN_MEMBER_ID');
      const marked = statusesOf(stage.beat('D', 'told')).includes('SHUTDOWN_APPLICATION');
      expect(marked).to.equal(profile === 'kafka');
    });

    it(`S06 Joins and leaves have a shape, and a refused one leaves no trace (${profile})`, () => {
      const stage = new Stage({ profile });
      const changelog = { name: 'c', partitions: 3, replicationFactor: 0, topicConfigs: [] };
      const [subtopology] = stage.topology.subtopologies;
      const topology = {
        epoch: 0,
        subtopologies: subtopology ? [{ ...subtopology, stateChangelogTopics: [changelog] }] : [],
      };
      const joins = [
        { topology: null },
        { rebalanceTimeoutMs: -1 },
        { standbyTasks: null },
        { activeTasks: readTasks('0:[0]') },
        { memberId: '' },
        { instanceId: '' },
        { rackId: ' ' },
      ];
      for (const fields of joins) {
        expect(errorOf(stage.join('A', { with: fields }))).to.equal('INVALID_REQUEST');
        expect(stage.describe()).to.deep.equal(['no group']);
      }
      const wrong = stage.join('A', { with: { topology } });
      expect(errorOf(wrong)).to.equal('STREAMS_INVALID_TOPOLOGY');
      for (const memberEpoch of [5, -1, -2]) {
        const fields = { memberEpoch, topology: stage.topology };
        expect(errorOf(stage.leave('A', fields))).to.equal('INVALID_REQUEST');
      }
      expect(errorOf(stage.leave('A', { memberEpoch: -3 }))).to.equal('INVALID_REQUEST');
      expect(errorOf(stage.leave('A', { memberEpoch: -2 }))).to.equal('INVALID_REQUEST');
      expect(stage.describe()).to.deep.equal(['no group']);
      const zero = stage.join('A', { with: { rebalanceTimeoutMs: 0 } });
      expect(errorOf(zero)).to.equal(profile === 'kip' ? 'INVALID_REQUEST' : 'NONE');
      expect(errorOf(stage.join('A', { with: { processId: null } }))).to.equal('NONE');
      expect(errorOf(stage.leave('A'))).to.equal('NONE');
    });
  }
});
