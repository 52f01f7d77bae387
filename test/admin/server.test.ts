import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { GroupView, ShardStatus } from '../../actors/group-coordinator.ts';
import type { JournalEntry } from '../../actors/ports.ts';
import { type GroupProblem, gatherProblem } from '../../machines/model/assignment.ts';
import { newGroup, newMember, newSoft } from '../../machines/model/empty.ts';
import { shardOf } from '../../machines/model/ids.ts';
import type { Member } from '../../machines/model/member.ts';
import { UNREFINED } from '../../machines/model/refinement.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import type { AdminSources } from '../../src/admin/routes.ts';
import { AdminListenError, type AdminServer, openAdminServer } from '../../src/admin/server.ts';
import { parseCell } from '../../src/problem/read-cell.ts';
import { VERSION } from '../../src/version.ts';
import { assignmentMember, assignmentProblem } from '../support/assignment.ts';
import { needRe2 } from '../support/re2.ts';

const SHARDS = 4;

function shardStatus(shard: number, state: ShardStatus['state'] = 'active'): ShardStatus {
  const groupsByState = { Empty: 0, NotReady: 0, Assigning: 0, Reconciling: 0, Stable: 0, Dead: 0 };
  const none = { groups: 0, simpleGroups: 0, members: 0, committedOffsets: 0, queued: 0 };
  return { shard, state, ...none, groupsByState };
}

const tasks = (...partitions: number[]): TaskList => [{ subtopologyId: '0', partitions }];
const owned = (...partitions: number[]) => [
  { subtopologyId: '0', partitions, assignmentEpochs: partitions.map(() => 2) },
];

function member(memberId: string, changes: Partial<Member>): Member {
  return { ...newMember(memberId), processId: `process-${memberId}`, ...changes };
}

const toB = (partition: number) => ({
  subtopologyId: '0',
  partition,
  holder: 'A',
  owner: 'B',
});

/** A gives up 0_1 for B, which waits for it; 0_2 is free. */
function orders(): GroupView {
  const base = newGroup('orders');
  const a = member('A', {
    memberEpoch: 2,
    previousMemberEpoch: 1,
    state: 'unrevokedTasks',
    clientTags: [{ key: 'zone', value: 'z1' }],
    assigned: { active: owned(0), standby: [], warmup: [] },
    pendingRevocation: { active: owned(1), standby: [], warmup: [] },
  });
  const b = member('B', { memberEpoch: 3, state: 'unreleasedTasks' });
  const soft = newSoft(1);
  return {
    group: {
      ...base,
      groupEpoch: 3,
      assignmentEpoch: 3,
      metadataHash: -(2n ** 63n),
      validatedTopologyEpoch: 0,
      state: 'Reconciling',
      topology: {
        epoch: 0,
        subtopologies: [
          {
            subtopologyId: '0',
            sourceTopics: ['in'],
            sourceTopicRegex: [],
            stateChangelogTopics: [
              { name: 'orders-c', partitions: 0, replicationFactor: 0, topicConfigs: [] },
            ],
            repartitionSinkTopics: [],
            repartitionSourceTopics: [],
            copartitionGroups: [],
          },
        ],
      },
      members: base.members.set('B', b).set('A', a),
      targets: base.targets
        .set('A', { active: tasks(0), standby: [], warmup: [] })
        .set('B', { active: tasks(1, 2), standby: [], warmup: [] }),
    },
    soft: {
      ...soft,
      members: soft.members.set('B', {
        taskOffsets: [{ subtopologyId: '0', partition: 1, offset: 2n ** 60n }],
        taskEndOffsets: [],
        reportedAtMs: 1,
        heartbeatVersion: 1,
        acknowledged: true,
        hurried: true,
      }),
      intermediate: {
        assignmentEpoch: 3,
        refinement: {
          ...UNREFINED,
          moves: [
            { ...toB(1), kind: 'staged', runner: 'A', warming: 'warmup', lag: 2n ** 60n },
            { ...toB(2), kind: 'granted', because: 'onDisk', lag: undefined },
            {
              ...toB(3),
              owner: undefined,
              kind: 'staged',
              runner: 'A',
              warming: 'ownerGone',
              lag: undefined,
            },
          ],
        },
      },
    },
  };
}

function entry(changes: Partial<JournalEntry>): JournalEntry {
  return {
    groupId: 'orders',
    atMs: 1,
    groupEpoch: 3,
    assignmentEpoch: 3,
    state: 'Stable',
    cause: 'heartbeat',
    memberId: 'A',
    because: [],
    ...changes,
  };
}

type Answer = { readonly status: number; readonly type: string; readonly body: string };

describe('the admin server', () => {
  let server: AdminServer;
  let shards: readonly ShardStatus[];
  let upstreamReached: boolean;
  let groups: ReadonlyMap<string, GroupView>;
  let problems: ReadonlyMap<string, GroupProblem>;
  let journal: readonly JournalEntry[];
  let failure: Error | undefined;
  let logged: string[];

  const sources: AdminSources = {
    coordinator: {
      groupIds: () => [...groups.keys()].sort(),
      view: (id) => groups.get(id),
      problem: (id) => problems.get(id),
      shards: () => shards,
    },
    journal: {
      read: async (groupId, { limit }) => {
        if (failure !== undefined) throw failure;
        return journal.filter((one) => one.groupId === groupId).slice(-limit);
      },
    },
    metrics: { contentType: 'text/plain', text: async () => 'a 1\n' },
    upstreamReached: () => upstreamReached,
  };
  const log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (_: object, text: string) => {
      logged.push(text);
    },
  };

  beforeEach(async () => {
    shards = Array.from({ length: SHARDS }, (_, at) => shardStatus(at));
    upstreamReached = true;
    groups = new Map([
      ['orders', orders()],
      ['a/b?', { ...orders(), group: newGroup('a/b?') }],
    ]);
    const asked = assignmentProblem({
      groupId: 'orders',
      topologyEpoch: 0,
      subtopologies: [{ subtopologyId: '0', taskCount: 3, stateful: true }],
      members: [
        assignmentMember('A', { topologyEpoch: 0, active: tasks(0) }),
        assignmentMember('B', { topologyEpoch: 0, processId: 'P2' }),
      ],
    });
    const { targets, ...epochs } = orders().group;
    problems = new Map([['orders', { ...gatherProblem(asked), targets, epochs }]]);
    journal = [];
    failure = undefined;
    logged = [];
    const listen = { host: '127.0.0.1', port: 0 };
    server = await openAdminServer({ ...sources, listen, log });
  });

  afterEach(() => server.close());

  function ask(path: string, options: { method?: string; body?: string } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { body, method = 'GET' } = options;
      const headers = body === undefined ? {} : { 'content-length': String(body.length) };
      const asked = httpRequest({ ...server.address, path, method, headers, agent: false });
      asked.on('error', reject);
      asked.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const type = response.headers['content-type'] ?? '';
          resolve({ status: response.statusCode ?? 0, type, body: text });
        });
      });
      asked.end(body);
    });
  }

  async function askJson(path: string): Promise<{ status: number; body: unknown }> {
    const { status, type, body } = await ask(path);
    expect(type).to.equal('application/json; charset=utf-8');
    return { status, body: JSON.parse(body) };
  }

  it('GET /metrics gives the text of the metrics', async () => {
    expect(await ask('/metrics')).to.deep.equal({ status: 200, type: 'text/plain', body: 'a 1\n' });
  });

  it('GET / lists the paths', async () => {
    const { body } = await ask('/');
    expect(Object.keys(JSON.parse(body).paths)).to.include('/groups/*/journal');
  });

  it('GET /health/live is always well', async () => {
    shards = [];
    expect(await askJson('/health/live')).to.deep.equal({ status: 200, body: { live: true } });
  });

  it('GET /health/ready wants every shard active and the upstream reached', async () => {
    expect(await askJson('/health/ready')).to.deep.equal({
      status: 200,
      body: { ready: true, shards: { active: 4 }, upstreamReached: true },
    });
    shards = [shardStatus(0), shardStatus(1, 'loading')];
    expect(await askJson('/health/ready')).to.deep.equal({
      status: 503,
      body: { ready: false, shards: { active: 1, loading: 1 }, upstreamReached: true },
    });
    shards = [shardStatus(0)];
    upstreamReached = false;
    expect((await ask('/health/ready')).status).to.equal(503);
    shards = [];
    upstreamReached = true;
    expect((await ask('/health/ready')).status).to.equal(503);
  });

  it('GET /groups lists and pages', async () => {
    const line = {
      groupId: 'orders',
      state: 'Reconciling',
      groupEpoch: 3,
      assignmentEpoch: 3,
      members: 2,
    };
    expect((await askJson('/groups?limit=1&after=a/b%3F')).body).to.deep.equal({
      total: 2,
      groups: [line],
    });
    for (const limit of ['0', '10001', 'x', '-1', '']) {
      expect((await ask(`/groups?limit=${limit}`)).status, limit).to.equal(400);
    }
  });

  it('GET /groups matches a pattern', async function () {
    await needRe2(this);
    const { body } = await ask('/groups?match=^or');
    const { total, groups } = JSON.parse(body);
    expect([total, groups.map((each: { groupId: string }) => each.groupId)]).to.deep.equal([
      1,
      ['orders'],
    ]);
  });

  it('refuses a pattern that RE2 cannot run, and one that is too long', async function () {
    await needRe2(this);
    expect((await ask(`/groups?match=${encodeURIComponent('(a')}`)).status).to.equal(400);
    expect((await ask(`/groups?match=${encodeURIComponent('(?=a)')}`)).status).to.equal(400);
    expect((await ask(`/groups?match=${'a'.repeat(257)}`)).status).to.equal(400);
  });

  it('GET /groups/{id}/state tells who has what and who waits for whom', async () => {
    const { status, body } = await askJson('/groups/orders/state');
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
      lastAssignmentConfigs: {},
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
    const { body } = await askJson(`/groups/${encodeURIComponent('a/b?')}/state`);
    expect(body).to.include({ groupId: 'a/b?', state: 'Empty' });
    expect((await ask('/groups/%ff/state')).status).to.equal(400);
    expect(await askJson('/groups/nobody/state')).to.deep.equal({
      status: 404,
      body: { error: 'Cannot find streams group "nobody"' },
    });
  });

  it('GET /groups/{id}/problem gives what an assignor would be asked, as a problem file', async () => {
    const { status, body } = await ask('/groups/orders/problem');
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
    expect(await askJson('/groups/nobody/problem')).to.deep.equal({
      status: 404,
      body: { error: 'Cannot find streams group "nobody"' },
    });
    expect(await askJson(`/groups/${encodeURIComponent('a/b?')}/problem`)).to.deep.equal({
      status: 409,
      body: { error: 'Cannot give the problem of group "a/b?": its topology is not ready' },
    });
  });

  it('GET /groups/{id}/journal gives the newest, oldest first', async () => {
    journal = [1, 2, 3].map((atMs) => entry({ atMs, because: [`Task 0_${atMs} moves`] }));
    const timesOf = async (query: string) => {
      const { body } = await ask(`/groups/orders/journal${query}`);
      return JSON.parse(body).entries.map(({ atMs }: JournalEntry) => atMs);
    };
    expect(await timesOf('')).to.deep.equal([1, 2, 3]);
    expect(await timesOf('?limit=2')).to.deep.equal([2, 3]);
  });

  it('GET /groups/{id}/journal finds a word, and not what only contains it', async () => {
    journal = ['0_1 moves', '10_1 moves', '0_1', '0_12', 'of 0_1, 0_2'].map((text, at) =>
      entry({ atMs: at, because: [text] }),
    );
    const { body } = await ask('/groups/orders/journal?word=0_1');
    const times = JSON.parse(body).entries.map(({ atMs }: JournalEntry) => atMs);
    expect(times).to.deep.equal([0, 2, 4]);
  });

  it('GET /groups/{id}/journal searches', async function () {
    await needRe2(this);
    journal = [1, 2, 3].map((atMs) => entry({ atMs, because: [`Task 0_${atMs} moves`] }));
    const timesOf = async (query: string) => {
      const { body } = await ask(`/groups/orders/journal${query}`);
      return JSON.parse(body).entries.map(({ atMs }: JournalEntry) => atMs);
    };
    expect(await timesOf('?match=0_1')).to.deep.equal([1]);
    expect(await timesOf('?match=nothing')).to.deep.equal([]);
    expect(await timesOf('?match=0_&limit=1')).to.deep.equal([3]);
  });

  it('keeps the journal of a group that is gone, and knows none of one that never was', async () => {
    journal = [entry({ groupId: 'gone' })];
    expect((await ask('/groups/gone/journal')).status).to.equal(200);
    expect((await ask('/groups/orders/journal')).status).to.equal(200);
    expect((await ask('/groups/never/journal')).status).to.equal(404);
  });

  it('GET /charts marks the state that a group and its members are in', async () => {
    const marks = async (name: string) =>
      JSON.parse((await ask(`/charts/${name}.json?group=orders`)).body).marks;
    expect(await marks('group')).to.deep.equal({ Reconciling: 'orders' });
    expect(await marks('member')).to.deep.equal({ unrevokedTasks: 'A', unreleasedTasks: 'B' });
    expect(await marks('shard')).to.deep.equal({ active: `shard ${shardOf('orders', SHARDS)}` });
    expect(await marks('description')).to.deep.equal({ none: 'orders' });
    const svg = await ask('/charts/group.svg?group=orders');
    expect(svg).to.include({ status: 200, type: 'image/svg+xml' });
    expect(svg.body).to.contain('Reconciling');
    for (const path of ['group.png', 'groups.svg', '.svg', 'group']) {
      expect((await ask(`/charts/${path}`)).status, path).to.equal(404);
    }
    expect((await ask('/charts/group.svg?group=nobody')).status).to.equal(404);
  });

  it('answers only GET, and no body', async () => {
    expect(await ask('/groups', { method: 'DELETE' })).to.include({ status: 405 });
    expect(await ask('/groups', { body: 'x' })).to.include({ status: 400 });
    expect(await ask('/nothing')).to.include({ status: 404 });
  });

  it('says nothing of a failure inside, and logs it', async () => {
    failure = new Error('secret path');
    const { status, body } = await ask('/groups/orders/journal');
    expect(status).to.equal(500);
    expect(body).not.to.contain('secret');
    expect(logged).to.deep.equal(['Admin request failed']);
  });

  it('answers 503 when an answer takes too long', async () => {
    const slow = await openAdminServer({
      ...sources,
      journal: { read: () => new Promise(() => {}) },
      listen: { host: '127.0.0.1', port: 0 },
      log,
      answerTimeoutMs: 1,
    });
    const fast = server;
    server = slow;
    const { status } = await ask('/groups/orders/journal');
    server = fast;
    await slow.close();
    expect(status).to.equal(503);
  });

  it('refuses headers that are too long', async () => {
    const { status } = await ask(`/${'x'.repeat(9_000)}`);
    expect(status).to.equal(431);
  });

  it('says in one line that its port is taken', async () => {
    const failed = await openAdminServer({ ...sources, listen: server.address, log }).catch(
      (error: unknown) => error,
    );
    expect(failed).to.be.instanceOf(AdminListenError);
    expect(failed)
      .to.have.property('message')
      .that.equals(
        `Cannot listen on 127.0.0.1:${server.address.port} for the admin server: the port is in use (--admin-port)`,
      );
  });

  it('close() ends although a client keeps its connection', async () => {
    const socket = connect(server.address);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => socket.on('connect', resolve));
    socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await server.close();
    await closed;
  });
});
