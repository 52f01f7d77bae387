import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import type { GroupView, ShardStatus } from '../../actors/group-coordinator.ts';
import type { JournalEntry } from '../../actors/ports.ts';
import { type GroupProblem, gatherProblem } from '../../machines/model/assignment.ts';
import { newGroup, newMember, newSoft } from '../../machines/model/empty.ts';
import type { Member } from '../../machines/model/member.ts';
import { UNREFINED } from '../../machines/model/refinement.ts';
import type { TaskList } from '../../machines/model/tasks.ts';
import type { AdminSources } from '../../src/admin/routes.ts';
import { type AdminServer, openAdminServer } from '../../src/admin/server.ts';
import { assignmentMember, assignmentProblem } from '../support/assignment.ts';

export const SHARDS = 4;

/** A shard without groups. */
export function shardStatus(shard: number, state: ShardStatus['state'] = 'active'): ShardStatus {
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

/** A gives up 0_1 for B, which waits for it; 0_2 is free. Of the tags zone and rack only A has one. */
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
      lastAssignmentConfigs: [{ key: 'rack.aware.assignment.tags', value: 'zone,rack' }],
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

/** An entry of the journal of `orders`, with what is said otherwise. */
export function entry(changes: Partial<JournalEntry>): JournalEntry {
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

/** An admin server over what its fields say at the time of a request, and a client of it. */
export class AdminStage {
  shards: readonly ShardStatus[] = Array.from({ length: SHARDS }, (_, at) => shardStatus(at));
  upstreamReached = true;
  addresses = [{ host: '127.0.0.1', port: 9_092 }];
  groups: ReadonlyMap<string, GroupView> = new Map([
    ['orders', orders()],
    ['a/b?', { ...orders(), group: newGroup('a/b?') }],
  ]);
  problems: ReadonlyMap<string, GroupProblem> = new Map([['orders', problemOfOrders()]]);
  journal: readonly JournalEntry[] = [];
  /** What reading the journal fails with. */
  failure: Error | undefined;
  /** Texts of the errors that were logged. */
  readonly logged: string[] = [];

  readonly sources: AdminSources = {
    coordinator: {
      groupIds: () => [...this.groups.keys()].sort(),
      view: (id) => this.groups.get(id),
      problem: (id) => this.problems.get(id),
      shards: () => this.shards,
    },
    journal: {
      read: async (groupId, { limit }) => {
        if (this.failure !== undefined) throw this.failure;
        return this.journal.filter((one) => one.groupId === groupId).slice(-limit);
      },
    },
    metrics: { contentType: 'text/plain', text: async () => 'a 1\n' },
    upstreamReached: () => this.upstreamReached,
    addresses: () => this.addresses,
  };
  readonly log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (_: object, text: string) => {
      this.logged.push(text);
    },
  };
  #server: AdminServer | undefined;

  get server(): AdminServer {
    if (this.#server === undefined) throw new Error('The admin server is not open');
    return this.#server;
  }

  async open(changes: Partial<Parameters<typeof openAdminServer>[0]> = {}): Promise<this> {
    const listen = { host: '127.0.0.1', port: 0 };
    this.#server = await openAdminServer({ ...this.sources, listen, log: this.log, ...changes });
    return this;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  ask(path: string, options: { method?: string; body?: string } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { body, method = 'GET' } = options;
      const headers = body === undefined ? {} : { 'content-length': String(body.length) };
      const asked = httpRequest({ ...this.server.address, path, method, headers, agent: false });
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

  async askJson(path: string): Promise<{ status: number; body: unknown }> {
    const { status, type, body } = await this.ask(path);
    expect(type).to.equal('application/json; charset=utf-8');
    return { status, body: JSON.parse(body) };
  }
}

function problemOfOrders(): GroupProblem {
  const asked = assignmentProblem({
    groupId: 'orders',
    topologyEpoch: 0,
    subtopologies: [{ subtopologyId: '0', taskCount: 3, stateful: true }],
    members: [
      assignmentMember('A', { topologyEpoch: 0, active: tasks(0) }),
      assignmentMember('B', { topologyEpoch: 0, processId: 'P2' }),
    ],
  });
  const { group } = orders();
  return { ...gatherProblem(asked), targets: group.targets, group };
}
