import { expect } from 'chai';
import { Waits } from '../../src/admin/waiting-for.ts';
import { Stage } from '../support/stage.ts';

/** Two members of a process each, four tasks with state and one standby each; so many warm-ups. */
function stageWith(warmups: number): Stage {
  const stage = new Stage({ in: 4, topology: 'T' });
  const { coordinator } = stage;
  coordinator.settings = {
    ...coordinator.settings,
    numWarmupReplicas: warmups,
    numStandbyReplicas: 1,
  };
  stage.join('A');
  stage.settle('A');
  stage.join('B');
  return stage;
}

/** In short: what each member waits for, and until when. */
function waitsIn({ coordinator }: Stage): Readonly<Record<string, readonly string[]>> {
  const { group, soft } = coordinator.slot;
  if (group === undefined) throw new Error('There is no group');
  const waits = new Waits(group, soft);
  const found = [...group.members.values()].map((member) => [
    member.memberId,
    waits.of(member).map(({ task, role, until, heldBy }) => {
      const by = heldBy.map(({ memberId }) => memberId).join('+');
      return `${role} ${task} ${until}${by === '' ? '' : ` ${by}`}`;
    }),
  ]);
  return Object.fromEntries(found);
}

describe('Waits', () => {
  it('says that a member waits for copies, and standbys for the tasks that wait for these', () => {
    const stage = stageWith(1);
    stage.settle('A', 'B');
    expect(waitsIn(stage)).to.deep.equal({
      A: ['standby 0_2 staged', 'standby 0_3 staged'],
      B: ['active 0_2 staged', 'active 0_3 staged'],
    });
  });

  it('says that a member waits for another to give a task up, and does not for its own copies', () => {
    const stage = stageWith(0);
    expect(waitsIn(stage)).to.deep.equal({
      A: ['standby 0_2 heartbeat', 'standby 0_3 heartbeat'],
      B: ['active 0_2 held A', 'active 0_3 held A'],
    });
    stage.beat('A');
    expect(waitsIn(stage)).to.deep.equal({
      A: [],
      B: ['active 0_2 held A', 'active 0_3 held A'],
    });
    stage.settle('A', 'B');
    expect(waitsIn(stage)).to.deep.equal({ A: [], B: [] });
  });

  it('says that a member has to give up itself what it is to have again', () => {
    const stage = stageWith(0);
    stage.beat('A');
    stage.leave('B');
    stage.beat('A');
    expect(waitsIn(stage)).to.deep.equal({ A: ['active 0_2 held A', 'active 0_3 held A'] });
  });
});
