import { expect } from 'chai';
import { activeOf, errorOf, Stage } from '../support/stage.ts';

const I1 = { instanceId: 'i1' };
const PAUSE = { memberEpoch: -2, ...I1 };

/** S1 is instance i1 and has both tasks. */
function settled(profile: 'kip' | 'kafka' = 'kip'): Stage {
  const stage = new Stage({ profile });
  stage.join('S1', { processId: 'p', with: I1 });
  stage.settle('S1');
  return stage;
}

function returns(stage: Stage, name: string): string | undefined {
  return errorOf(stage.join(name, { processId: 'p', with: I1 }));
}

describe('static members', () => {
  it('may be as many as the group holds, those on a break too; a return is no new one (SIZE-1, SIZE-2)', () => {
    const stage = settled();
    stage.coordinator.coordinator = { ...stage.coordinator.coordinator, maxGroupSize: 1 };
    expect(errorOf(stage.join('S2', { with: I1 }))).to.equal('UNRELEASED_INSTANCE_ID');
    stage.leave('S1', PAUSE);
    expect(errorOf(stage.join('B', { with: { instanceId: 'i2' } }))).to.equal(
      'GROUP_MAX_SIZE_REACHED',
    );
    expect(returns(stage, 'S2')).to.equal('NONE');
  });

  it('keeps what it owed for nobody: a break ends every revocation (LEAVE-4, REC-11)', () => {
    const stage = settled();
    stage.join('B');
    stage.beat('S1');
    expect(stage.coordinator.slot.group?.members.get('S1')?.state).to.equal('unrevokedTasks');
    stage.leave('S1', PAUSE);
    const away = stage.coordinator.slot.group?.members.get('S1');
    expect(away).to.deep.include({
      memberEpoch: -2,
      state: 'unrevokedTasks',
      pendingRevocation: { active: [], standby: [], warmup: [] },
    });
    expect(away?.assigned.active).to.deep.equal([
      { subtopologyId: '0', partitions: [0], assignmentEpochs: [0] },
    ]);
    stage.beat('B', 'told');
    expect(returns(stage, 'S2')).to.equal('NONE');
    stage.settle('S2', 'B');
    expect(stage.describe()).to.deep.equal(['Stable 3/3', 'B 3 0:[1]|[]', 'S2 3 0:[0]|[]']);
  });

  it('leaves nothing of the member it replaces: offsets, timers, hurry (STAT-3, OFS-2)', () => {
    const stage = settled();
    stage.beat('S1', 'silent', {
      with: { taskOffsets: [{ subtopologyId: '0', partition: 0, offset: 7n }] },
    });
    stage.leave('S1', PAUSE);
    returns(stage, 'S2');
    const { soft, group } = stage.coordinator.slot;
    expect([...soft.members.keys()]).to.deep.equal(['S2']);
    expect([...(group?.members.keys() ?? [])]).to.deep.equal(['S2']);
    expect(stage.coordinator.timers).to.deep.equal(['session S2']);
  });

  it('comes back from a break without its instance id in profile kafka, and keeps its tasks (X24)', () => {
    const stage = settled('kafka');
    stage.leave('S1', PAUSE);
    const answer = stage.join('S1', { with: { processId: 'q' } });
    expect([answer?.error, answer?.memberEpoch, activeOf(answer)]).to.deep.equal([
      'NONE',
      3,
      '0:[0-1]',
    ]);
    stage.settle('S1');
    expect(stage.describe()).to.deep.equal(['Stable 3/3', 'S1 3 0:[0-1]|[]']);
  });

  it('is known after a restart: the break lasts a full session more, the place is kept (LOAD-1, STAT-3)', () => {
    const stage = settled();
    stage.leave('S1', PAUSE);
    stage.coordinator.failOver();
    expect(stage.coordinator.timers).to.deep.equal(['session S1']);
    expect(errorOf(stage.join('X', { with: { instanceId: 'i2' } }))).to.equal('NONE');
    expect(returns(stage, 'S2')).to.equal('NONE');
    expect(stage.coordinator.slot.group?.staticMembers.get('i1')).to.equal('S2');
  });

  for (const [profile, error] of [
    ['kip', 'NONE'],
    ['kafka', 'UNRELEASED_INSTANCE_ID'],
  ] as const) {
    it(`may repeat its join after a lost answer: ${error} in profile ${profile} (STAT-2, X23)`, () => {
      const stage = settled(profile);
      const { length } = stage.coordinator.log;
      expect(returns(stage, 'S1')).to.equal(error);
      expect(stage.coordinator.log.length).to.equal(length);
    });
  }

  it('is held to its instance id, or to having none, for life; kafka lets it change (STAT-1, JOIN-5, X24)', () => {
    for (const profile of ['kip', 'kafka'] as const) {
      const wanted = profile === 'kip' ? 'INVALID_REQUEST' : 'NONE';
      const other = settled(profile);
      expect(errorOf(other.join('S1', { with: { instanceId: 'i2' } }))).to.equal(wanted);
      const without = settled(profile);
      expect(errorOf(without.join('S1'))).to.equal(wanted);
      const dynamic = new Stage({ profile });
      dynamic.join('D');
      expect(errorOf(dynamic.join('D', { with: I1 }))).to.equal(wanted);
    }
  });

  it('that leaves while its answer waits is told to join again, and keeps its place (OFF-8, STAT-6)', () => {
    const stage = new Stage();
    stage.coordinator.holdRuns = true;
    expect(stage.join('S1', { with: I1 })).to.equal(undefined);
    stage.leave('S1', PAUSE);
    const { answer } = stage.coordinator.release();
    expect(errorOf(answer)).to.equal('FENCED_MEMBER_EPOCH');
    expect(stage.coordinator.slot.group?.members.get('S1')?.memberEpoch).to.equal(-2);
  });

  it('is seen to be back while the answer to its return waits for a run (OFF-8, STAT-3)', () => {
    const stage = settled();
    stage.leave('S1', PAUSE);
    stage.coordinator.holdRuns = true;
    const elsewhere = { ...I1, processId: 'elsewhere' };
    expect(stage.join('S1', { with: elsewhere })).to.equal(undefined);
    expect(stage.coordinator.slot.group?.members.get('S1')?.memberEpoch).to.equal(0);
    expect(errorOf(stage.join('S2', { with: I1 }))).to.equal('UNRELEASED_INSTANCE_ID');
    expect(stage.coordinator.release().answer?.memberEpoch).to.equal(3);
  });
});
