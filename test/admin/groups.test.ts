import { expect } from 'chai';
import { newMember, newSoft } from '../../machines/model/empty.ts';
import { parseCell } from '../../src/problem/read-cell.ts';
import { VERSION } from '../../src/version.ts';
import { AdminStage } from '../support/admin-stage.ts';
import { needRe2 } from '../support/re2.ts';

describe('groups on the admin server', () => {
  let stage: AdminStage;
  beforeEach(async () => {
    stage = await new AdminStage().open();
  });
  afterEach(() => stage.close());

  it('GET /groups lists and pages', async () => {
    const line = {
      groupId: 'orders',
      state: 'Reconciling',
      groupEpoch: 3,
      assignmentEpoch: 3,
      members: 2,
    };
    expect((await stage.askJson('/groups?limit=1&after=a/b%3F')).body).to.deep.equal({
      total: 2,
      groups: [line],
    });
    for (const limit of ['0', '10001', 'x', '-1', '']) {
      expect((await stage.ask(`/groups?limit=${limit}`)).status, limit).to.equal(400);
    }
  });

  it('GET /groups matches a pattern', async function () {
    await needRe2(this);
    const { body } = await stage.ask('/groups?match=^or');
    const { total, groups } = JSON.parse(body);
    expect([total, groups.map((each: { groupId: string }) => each.groupId)]).to.deep.equal([
      1,
      ['orders'],
    ]);
  });

  it('refuses a pattern that RE2 cannot run, and one that is too long', async function () {
    await needRe2(this);
    expect((await stage.ask(`/groups?match=${encodeURIComponent('(a')}`)).status).to.equal(400);
    expect((await stage.ask(`/groups?match=${encodeURIComponent('(?=a)')}`)).status).to.equal(400);
    expect((await stage.ask(`/groups?match=${'a'.repeat(257)}`)).status).to.equal(400);
  });

  it('GET /groups/{id}/state tells who has what and who waits for whom', async () => {
    const { status, body } = await stage.askJson('/groups/orders/state');
    expect(status).to.equal(200);
    const none = { active: [], standby: [], warmup: [] };
    const unregistered = {
      instanceId: null,
      rackId: null,
      clientId: '',
      clientHost: '',
      userEndpoint: null,
      taskEndOffsets: {},
    };
    const { rebalanceTimeoutMs, topologyEpoch } = newMember('x');
    expect(body).to.deep.equal({
      groupId: 'orders',
      state: 'Reconciling',
      groupEpoch: 3,
      assignmentEpoch: 3,
      validatedTopologyEpoch: 0,
      metadataHash: '-9223372036854775808',
      assignmentTimestampMs: 0,
      lastAssignmentConfigs: { 'rack.aware.assignment.tags': 'zone,rack' },
      standIn: null,
      targetFigures: null,
      topology: {
        epoch: 0,
        ready: true,
        problem: null,
        subtopologies: [
          {
            subtopologyId: '0',
            tasks: null,
            stateful: true,
            sourceTopics: ['in'],
            repartitionTopics: [],
            changelogTopics: ['orders-c'],
          },
        ],
      },
      lackedTags: [
        { tag: 'zone', memberIds: ['B'] },
        { tag: 'rack', memberIds: ['A', 'B'] },
      ],
      members: [
        {
          ...unregistered,
          memberId: 'A',
          state: 'unrevokedTasks',
          memberEpoch: 2,
          previousMemberEpoch: 1,
          processId: 'process-A',
          rebalanceTimeoutMs,
          topologyEpoch,
          clientTags: { zone: 'z1' },
          assigned: { ...none, active: ['0_0'] },
          pendingRevocation: { ...none, active: ['0_1'] },
          target: { ...none, active: ['0_0'] },
          waitingFor: [],
          taskOffsets: {},
          hurried: false,
        },
        {
          ...unregistered,
          memberId: 'B',
          state: 'unreleasedTasks',
          memberEpoch: 3,
          previousMemberEpoch: newMember('B').previousMemberEpoch,
          processId: 'process-B',
          rebalanceTimeoutMs,
          topologyEpoch,
          clientTags: {},
          assigned: none,
          pendingRevocation: none,
          target: { ...none, active: ['0_1', '0_2'] },
          waitingFor: [
            {
              task: '0_1',
              role: 'active',
              until: 'held',
              heldBy: [{ memberId: 'A', processId: 'process-A' }],
            },
            { task: '0_2', role: 'active', until: 'heartbeat', heldBy: [] },
          ],
          taskOffsets: { '0_1': '1152921504606846976' },
          hurried: true,
        },
      ],
      pending: {
        initialDelay: false,
        assignmentOfEpoch: null,
        assignmentFailedAtMs: null,
        topicsChanged: newSoft(1).refreshDue,
        staged: [
          {
            task: '0_1',
            runner: 'A',
            owner: 'B',
            warming: 'warmup',
            lag: '1152921504606846976',
          },
          { task: '0_3', runner: 'A', owner: null, warming: 'ownerGone', lag: null },
        ],
        shutdownBy: null,
      },
      endpointEpoch: 0,
    });
  });

  it('takes any group id in the path, escaped', async () => {
    const { body } = await stage.askJson(`/groups/${encodeURIComponent('a/b?')}/state`);
    expect(body).to.include({ groupId: 'a/b?', state: 'Empty' });
    expect((await stage.ask('/groups/%ff/state')).status).to.equal(400);
    expect(await stage.askJson('/groups/nobody/state')).to.deep.equal({
      status: 404,
      body: { error: 'Cannot find streams group "nobody"' },
    });
  });

  it('GET /groups/{id}/problem gives what an assignor would be asked, as a problem file', async () => {
    const { status, body } = await stage.ask('/groups/orders/problem');
    expect(status).to.equal(200);
    const { dump, members, ...question } = parseCell(body);
    expect(dump).to.include({ why: 'asked', by: `headgate ${VERSION}` });
    expect(question).to.deep.equal({
      cell: 'orders',
      assignor: 'sticky',
      group: { id: 'orders', epoch: 3, assignmentEpoch: 3, topologyEpoch: 0 },
      configs: {
        numStandbyReplicas: 0,
        rackAwareAssignmentTags: [],
        acceptableRecoveryLag: 10_000,
      },
      topology: [{ id: '0', tasks: 3, stateful: true }],
    });
    const [a, b] = members;
    expect(members.length).to.equal(2);
    expect(a).to.deep.include({ id: 'A', process: 'P1', active: { '0': [0] } });
    expect(b).to.deep.include({ id: 'B', process: 'P2', target: { active: { '0': [1, 2] } } });
  });

  it('GET /groups/{id}/problem says when there is none', async () => {
    expect(await stage.askJson('/groups/nobody/problem')).to.deep.equal({
      status: 404,
      body: { error: 'Cannot find streams group "nobody"' },
    });
    expect(await stage.askJson(`/groups/${encodeURIComponent('a/b?')}/problem`)).to.deep.equal({
      status: 409,
      body: { error: 'Cannot give the problem of group "a/b?": its topology is not ready' },
    });
  });
});
