import { expect } from 'chai';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import { refusedAnswer } from '../../machines/decide/answer.ts';
import { Stage } from '../support/stage.ts';
import { steadyBeat } from '../support/steady-beat.ts';
import { readTasks } from '../support/task-notation.ts';
import { ToldTasks } from '../support/told-tasks.ts';

/** A and A2 live in process p, B in q; the one subtopology has a store. */
function threeMembers() {
  const stage = new Stage({ topology: 'T', in: 4 });
  stage.join('A', { processId: 'p' });
  stage.join('A2', { processId: 'p' });
  stage.join('B', { processId: 'q' });
  const { group } = stage.coordinator.slot;
  const told = new ToldTasks();
  return {
    stage,
    told,
    tell: (memberId: string, lists: string) => told.told(answer(memberId, lists)),
    report: (memberId: string, lists: string) => {
      const { activeTasks, standbyTasks, warmupTasks } = answer(memberId, lists);
      const lost = { activeTasks, standbyTasks, warmupTasks };
      told.heard({ ...steadyBeat('g', memberId, 2), ...lost });
    },
    broken: () => told.violations(group),
  };
}

function answer(memberId: string, lists: string): HeartbeatAnswer {
  const [active = '[]', standby = '[]', warmup = '[]'] = lists.split('|');
  return {
    ...refusedAnswer('NONE', null),
    memberId,
    activeTasks: readTasks(active),
    standbyTasks: readTasks(standby),
    warmupTasks: readTasks(warmup),
  };
}

describe('ToldTasks, the checkers that run under every scenario', () => {
  it('finds a second owner until the first has reported the task as dropped (S08)', () => {
    const { tell, report, broken } = threeMembers();
    tell('A', '0:[0-1]');
    tell('A', '0:[0]');
    tell('B', '0:[1-2]');
    expect(broken()).to.deep.equal(['Two owners: 0_1 with A and B']);
    report('A', '0:[0]');
    expect(broken()).to.deep.equal([]);
  });

  it('finds a second copy in a process, in whatever roles, but no change of role (S10)', () => {
    const { tell, broken } = threeMembers();
    tell('A', '0:[0]');
    tell('A', '[]|0:[0]');
    tell('B', '[]|0:[0]');
    expect(broken()).to.deep.equal([]);
    tell('A2', '[]|[]|0:[0]');
    expect(broken()).to.deep.equal(['Two copies: 0_0 in p with A and A2']);
  });

  it('lets go of what a member had that left, joined again or is no member any more', () => {
    const { told, stage, tell, broken } = threeMembers();
    tell('A', '0:[0]');
    tell('B', '0:[0]');
    told.heard(steadyBeat('g', 'A', -1));
    expect(broken()).to.deep.equal([]);
    tell('A', '0:[0]');
    told.heard({ ...steadyBeat('g', 'A', 0), activeTasks: [], standbyTasks: [], warmupTasks: [] });
    expect(broken()).to.deep.equal([]);
    tell('A', '0:[0]');
    stage.leave('B');
    expect(told.violations(stage.coordinator.slot.group)).to.deep.equal([]);
  });
});
