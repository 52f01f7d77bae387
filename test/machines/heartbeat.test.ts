import { expect } from 'chai';
import { measureHeartbeatDecision } from '../../bench/heartbeat-decision.ts';
import { REPORTED_OFFSETS_MAX } from '../../machines/decide/admit.ts';
import { decideHeartbeat } from '../../machines/decide/heartbeat.ts';
import { decideLoaded } from '../../machines/decide/loaded.ts';
import { decideRunOver, decideWaitOver } from '../../machines/decide/target.ts';
import { decideRebalanceExpired, decideSessionExpired } from '../../machines/decide/timeouts.ts';
import { topicsChanged } from '../../machines/decide/topics-changed.ts';
import type { HeldHeartbeat } from '../../machines/decision.ts';
import { LAST_EPOCH } from '../../machines/model/ids.ts';
import type { Profile } from '../../machines/model/profile.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import type { GroupSettings } from '../../machines/model/settings.ts';
import { runAssignor } from '../support/run-assignor.ts';
import { errorOf, Stage, statusesOf } from '../support/stage.ts';

const CLIENT = { clientId: 'client-A', clientHost: '/127.0.0.1', apiVersion: 1 };

function settled(): Stage {
  const stage = new Stage();
  stage.join('A');
  stage.settle('A');
  return stage;
}

describe('decideHeartbeat()', () => {
  it('decides nothing for an idle heartbeat and keeps what is soft as it is', () => {
    const stage = settled();
    const { slot } = stage.coordinator;
    const request = stage.member('A').request('silent');
    const decision = decideHeartbeat(slot, request, CLIENT, stage.coordinator.context());
    expect(decision.soft).to.equal(slot.soft);
    expect([decision.records, decision.because]).to.deep.equal([[], []]);
    expect(decision.effects).to.deep.equal([
      { type: 'armSession', memberId: 'A', delayMs: 45_000 },
    ]);
    const again = decideHeartbeat(slot, request, CLIENT, stage.coordinator.context());
    expect(again.records).to.equal(decision.records);
  });

  it('costs the same work whatever the size (its bench runs)', () => {
    expect(measureHeartbeatDecision(10, 100).check).to.equal(200);
    expect(measureHeartbeatDecision(300, 100).check).to.equal(200);
  });

  it('refuses to wrap the group epoch (WR-12)', () => {
    const stage = settled();
    const { group } = stage.coordinator.slot;
    if (group === undefined) throw new Error('no group');
    const last = { ...group, groupEpoch: LAST_EPOCH, assignmentEpoch: LAST_EPOCH };
    stage.coordinator.slot = { ...stage.coordinator.slot, group: last };
    expect(errorOf(stage.join('B'))).to.equal('COORDINATOR_NOT_AVAILABLE');
    expect(stage.coordinator.slot.group).to.equal(last);
  });

  it('refuses a member above the limit, never a known one (SIZE-1)', () => {
    const stage = settled();
    const { coordinator } = stage;
    coordinator.coordinator = { ...coordinator.coordinator, maxGroupSize: 1 };
    expect(errorOf(stage.join('B'))).to.equal('GROUP_MAX_SIZE_REACHED');
    expect(errorOf(stage.join('A'))).to.equal('NONE');
  });

  for (const [profile, error] of [
    ['kip', 'NONE'],
    ['kafka', 'INVALID_REQUEST'],
  ] as const) {
    it(`a member of an older topology with a task of it: ${error} in profile ${profile} (REQ-16)`, () => {
      const stage = new Stage({ profile });
      const { coordinator, topology } = stage;
      const behaviour = { ...coordinator.behaviour, acceptStaleTopologyJoin: true };
      coordinator.behaviour = behaviour;
      stage.join('B', { with: { topology: { ...topology, epoch: 1 } } });
      stage.join('A');
      const activeTasks = [{ subtopologyId: 'old', partitions: [0] }];
      const owned = { activeTasks, standbyTasks: [], warmupTasks: [] };
      expect(errorOf(stage.beat('A', 'silent', { with: owned }))).to.equal(error);
    });
  }

  it('knows no group and no member that was never there (MEM-1, MEM-3, LEAVE-1)', () => {
    const stage = new Stage();
    stage.member('A').epoch = 5;
    expect(errorOf(stage.beat('A'))).to.equal('GROUP_ID_NOT_FOUND');
    expect(errorOf(stage.leave('A'))).to.equal('GROUP_ID_NOT_FOUND');
    stage.join('B');
    stage.member('A').epoch = 5;
    expect(errorOf(stage.beat('A'))).to.equal('UNKNOWN_MEMBER_ID');
    expect(errorOf(stage.leave('A'))).to.equal('UNKNOWN_MEMBER_ID');
  });

  it('looks for group and instance before a break (MEM-1, STAT-6, LEAVE-3)', () => {
    const stage = new Stage();
    const pause = { memberEpoch: -2, instanceId: 'i' };
    expect(errorOf(stage.leave('A', pause))).to.equal('GROUP_ID_NOT_FOUND');
    stage.join('A');
    expect(errorOf(stage.leave('A', pause))).to.equal('UNKNOWN_MEMBER_ID');
  });

  it('refuses more offsets than a group may have tasks, whatever they are of', () => {
    const stage = settled();
    const reported = (count: number) => ({
      taskEndOffsets: Array.from({ length: count }, (_, partition) => ({
        subtopologyId: 'gone',
        partition,
        offset: 1n,
      })),
    });
    const { soft } = stage.coordinator.slot;
    const many = stage.beat('A', 'silent', { with: reported(REPORTED_OFFSETS_MAX + 1) });
    expect(errorOf(many)).to.equal('INVALID_REQUEST');
    expect(stage.coordinator.slot.soft).to.equal(soft);
    const most = stage.beat('A', 'silent', { with: reported(REPORTED_OFFSETS_MAX) });
    expect(errorOf(most)).to.equal('NONE');
  });

  it('refuses a task reported twice in one offset list (REQ-17)', () => {
    const stage = settled();
    const offset = { subtopologyId: '0', partition: 0, offset: 1n };
    const twice = { taskOffsets: [offset, offset] };
    expect(errorOf(stage.beat('A', 'silent', { with: twice, lost: true }))).to.equal(
      'INVALID_REQUEST',
    );
  });

  it('keeps each offset list until it is replaced; an empty one clears (OFS-1, OFS-2)', () => {
    const stage = settled();
    const at = (offset: bigint) => [{ subtopologyId: '0', partition: 0, offset }];
    const soft = () => stage.coordinator.slot.soft.members.get('A');
    stage.beat('A', 'silent', { with: { taskOffsets: at(2n ** 60n), taskEndOffsets: at(9n) } });
    stage.beat('A', 'silent', { with: { taskOffsets: at(3n) } });
    stage.beat('A');
    expect([soft()?.taskOffsets, soft()?.taskEndOffsets]).to.deep.equal([at(3n), at(9n)]);
    stage.beat('A', 'silent', { with: { taskEndOffsets: [] } });
    expect([soft()?.taskOffsets, soft()?.taskEndOffsets]).to.deep.equal([at(3n), []]);
    stage.leave('A');
    expect(soft()).to.equal(undefined);
  });

  it('tells a member that lacks a configured tag, in version 1 only (RSP-3)', () => {
    const stage = settled();
    const { coordinator } = stage;
    coordinator.settings = { ...coordinator.settings, rackAwareAssignmentTags: ['zone', 'rack'] };
    const tags = [{ key: 'zone', value: 'z' }];
    const answer = stage.beat('A', 'silent', { with: { clientTags: tags } });
    expect(answer?.statuses).to.deep.equal([
      { status: 'MISSING_CLIENT_TAGS', detail: 'The member lacks the client tag rack' },
    ]);
    expect(stage.beat('A', 'silent', { version: 0 })?.statuses).to.deep.equal([]);
    expect(stage.beat('A', 'silent', { with: { clientTags: [] } })?.statuses).to.deep.equal([
      { status: 'MISSING_CLIENT_TAGS', detail: 'The member lacks the client tags zone, rack' },
    ]);
  });
});

describe('decideWaitOver()', () => {
  const held = (stage: Stage, memberEpoch: number): HeldHeartbeat => ({
    run: 1,
    request: { ...stage.member('B').join(), memberEpoch },
    client: CLIENT,
    joined: memberEpoch === 0,
    created: false,
    endpointEpochRaised: false,
  });
  const errorFor = (stage: Stage, memberEpoch: number) => {
    const { slotOrNone, context } = bound(stage);
    const { reply } = decideWaitOver(slotOrNone, held(stage, memberEpoch), context);
    return reply.kind === 'answer' ? reply.value.error : reply.kind;
  };
  const bound = ({ coordinator }: Stage) => ({
    slotOrNone: coordinator.slotOrNone,
    context: coordinator.context(),
  });

  it('answers a member that is gone with what it would meet now (OFF-8)', () => {
    expect(errorFor(settled(), 0)).to.equal('UNKNOWN_MEMBER_ID');
    expect(errorFor(settled(), 5)).to.equal('UNKNOWN_MEMBER_ID');
    expect(errorFor(new Stage(), 0)).to.equal('UNKNOWN_MEMBER_ID');
    expect(errorFor(new Stage(), 5)).to.equal('GROUP_ID_NOT_FOUND');
  });
});

describe('decideRunOver()', () => {
  it('drops what is not from the run in flight, and says status 5 to who waited (OFF-5)', () => {
    const stage = settled();
    const { coordinator } = stage;
    coordinator.holdRuns = true;
    stage.join('B');
    const [run] = coordinator.heldRuns;
    if (run === undefined) throw new Error('no run');
    const result = runAssignor(coordinator.assignor, run.problem);
    for (const other of [{ incarnation: run.incarnation + 1 }, { run: run.run + 1 }]) {
      const outcome = { kind: 'assigned', ...run, ...other, result } as const;
      const decision = decideRunOver(coordinator.slot, outcome, undefined, coordinator.context());
      expect([decision.records, decision.soft]).to.deep.equal([[], coordinator.slot.soft]);
    }
  });

  it('drops a result whose topology became unready meanwhile (OFF-5, ASG-9)', () => {
    const stage = settled();
    const { coordinator } = stage;
    coordinator.holdRuns = true;
    stage.join('B');
    coordinator.setTopic('in', 0);
    stage.beat('A', 'told');
    expect(stage.describe()[0]).to.match(/^NotReady 4\/4$/);
    const { records, answer } = coordinator.release();
    // B is answered with what is installed: nothing for anybody.
    expect(records.map(({ type }) => type)).to.deep.equal(['currentAssignment']);
    expect(statusesOf(answer)).to.deep.equal(['MISSING_SOURCE_TOPICS']);
  });
});

describe('timers', () => {
  it('that fire for nobody do nothing (FENCE-3)', () => {
    const { coordinator } = settled();
    const context = coordinator.context();
    expect(decideSessionExpired(coordinator.slot, 'X', context)).to.equal(undefined);
    expect(decideSessionExpired(undefined, 'A', context)).to.equal(undefined);
    expect(decideRebalanceExpired(coordinator.slot, 'A', 1, context)).to.equal(undefined);
  });

  it('run for everybody after a load (LOAD-1)', () => {
    const stage = settled();
    stage.join('B');
    stage.beat('A');
    const effects = decideLoaded(stage.coordinator.slot, stage.coordinator.context());
    expect(effects).to.have.deep.members([
      { type: 'armSession', memberId: 'A', delayMs: 45_000 },
      { type: 'armRebalance', memberId: 'A', delayMs: 60_000, memberEpoch: 2 },
      { type: 'armSession', memberId: 'B', delayMs: 45_000 },
    ]);
  });
});

describe('topicsChanged()', () => {
  it('marks a group only for topics that its topology names (TOP-12, H-4)', () => {
    const { slot } = settled().coordinator;
    expect(topicsChanged(slot, new Set(['other']))).to.equal(undefined);
    expect(topicsChanged(slot, new Set(['in']))).to.deep.equal({ ...slot.soft, refreshDue: true });
    const marked = { ...slot, soft: { ...slot.soft, refreshDue: true } };
    expect(topicsChanged(marked, new Set(['in']))).to.equal(undefined);
  });
});

describe('Refusal', () => {
  it('leaves everything as it was', () => {
    const stage = settled();
    const { slot } = stage.coordinator;
    const request = { ...stage.member('A').request('silent'), memberId: '' };
    const decide = () => decideHeartbeat(slot, request, CLIENT, stage.coordinator.context());
    expect(decide).to.throw(Refusal);
    expect(stage.coordinator.slot).to.equal(slot);
  });
});

describe('the initial delay', () => {
  function delayed(profile: Profile = 'kip'): Stage {
    const stage = new Stage({ profile });
    const { coordinator } = stage;
    coordinator.settings = { ...coordinator.settings, initialRebalanceDelayMs: 3000 };
    return stage;
  }

  it('goes on when the group is emptied and joined again while it runs (ASG-3)', () => {
    const stage = delayed();
    stage.join('A');
    stage.coordinator.advance(1000);
    stage.leave('A');
    stage.coordinator.advance(1000);
    stage.join('B');
    stage.coordinator.advance(1000);
    stage.settle('B');
    expect(stage.describe()).to.deep.equal(['Stable 4/4', 'B 4 0:[0-1]|[]']);
  });

  describe('ends with the configs of the record, whatever was set since (ASG-5, WR-8, SC-2)', () => {
    const selected = {
      numStandbyReplicas: 1,
      rackAwareAssignmentTags: ['zone'],
      assignorName: 'balanced',
      assignorSelected: true,
    };
    const unset = {
      numStandbyReplicas: 0,
      rackAwareAssignmentTags: [],
      assignorName: 'sticky',
      assignorSelected: false,
    };

    function configsAtTheEnd(
      before: Partial<GroupSettings>,
      after: Partial<GroupSettings>,
      profile: Profile,
    ) {
      const stage = delayed(profile);
      const { coordinator } = stage;
      coordinator.holdRuns = true;
      coordinator.settings = { ...coordinator.settings, ...before };
      stage.join('A');
      coordinator.settings = { ...coordinator.settings, ...after };
      coordinator.advance(3000);
      const problem = coordinator.heldRuns[0]?.problem;
      return [problem?.assignor, problem?.numStandbyReplicas, problem?.rackAwareAssignmentTags];
    }

    it('those that were set, and the defaults of those that were not', () => {
      expect(configsAtTheEnd(selected, unset, 'kip')).to.deep.equal(['balanced', 1, ['zone']]);
      expect(configsAtTheEnd(unset, selected, 'kip')).to.deep.equal(['sticky', 0, []]);
    });

    it('in profile kafka the assignor is that of the moment (RT-7)', () => {
      expect(configsAtTheEnd(selected, unset, 'kafka')).to.deep.equal(['sticky', 1, ['zone']]);
      expect(configsAtTheEnd(unset, selected, 'kafka')).to.deep.equal(['balanced', 0, []]);
    });
  });

  it('starts no second run beside one that is out (OFF-1)', () => {
    const stage = settled();
    const { coordinator } = stage;
    coordinator.holdRuns = true;
    stage.join('B');
    stage.leave('A');
    stage.leave('B');
    coordinator.settings = { ...coordinator.settings, initialRebalanceDelayMs: 3000 };
    stage.join('C');
    coordinator.advance(3000);
    expect(coordinator.heldRuns).to.have.length(1);
    // The old result is for an epoch that is over; the next heartbeat computes (OFF-5).
    expect(coordinator.release().records).to.deep.equal([]);
    coordinator.holdRuns = false;
    stage.settle('C');
    expect(stage.describe()[1]).to.match(/^C \d 0:\[0-1\]\|\[\]$/);
  });
});

describe('the assignment interval', () => {
  it('is over when the wall clock went back (ASG-6)', () => {
    const stage = settled();
    const { coordinator } = stage;
    coordinator.settings = { ...coordinator.settings, assignmentIntervalMs: 1000 };
    coordinator.nowMs -= 5000;
    expect(statusesOf(stage.join('B'))).to.deep.equal([]);
  });
});

describe('the endpoint epoch', () => {
  const endpoint = { userEndpoint: { host: 'h', port: 1 } };

  it('moves with members that have an endpoint, when they go too (IQ-1)', () => {
    const stage = new Stage();
    const epoch = () => stage.coordinator.slot.soft.endpointEpoch;
    stage.join('A');
    stage.settle('A');
    expect(epoch()).to.equal(0);
    stage.join('B', { with: endpoint });
    expect(epoch()).to.equal(1);
    stage.settle('A', 'B');
    expect(epoch(), 'it was given tasks').to.equal(2);
    stage.leave('A');
    expect(epoch(), 'A has none').to.equal(2);
    stage.leave('B');
    expect(epoch()).to.equal(3);
  });
});

describe('the quick hand-over', () => {
  it('hurries nobody when there is no room, and counts whom it does (RSP-8)', () => {
    const intervals = (mayHurry: boolean) => {
      const stage = settled();
      const { coordinator } = stage;
      coordinator.mayHurry = mayHurry;
      coordinator.coordinator = { ...coordinator.coordinator, handoverHeartbeatIntervalMs: 300 };
      const told = [stage.join('B'), stage.beat('A')].map((each) => each?.heartbeatIntervalMs);
      const { hurriedMembers } = coordinator.slot.soft;
      stage.leave('B');
      return [...told, hurriedMembers, coordinator.slot.soft.hurriedMembers];
    };
    expect(intervals(true)).to.deep.equal([300, 300, 2, 1]);
    expect(intervals(false)).to.deep.equal([5000, 5000, 0, 0]);
  });
});
