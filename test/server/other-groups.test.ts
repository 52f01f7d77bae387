import { expect } from 'chai';
import type { GroupState } from '../../machines/model/group.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';
import type { Authorizer } from '../../src/server/authorize.ts';
import type { Handler } from '../../src/server/dispatch.ts';
import { answerJoinGroup, answerOtherHeartbeat } from '../../src/server/handlers/other-groups.ts';
import { createStandalone } from '../../src/server/standalone.ts';
import type { ApiName, RequestInput, ResponseOf } from '../../src/wire/apis.ts';
import { apis } from '../../src/wire/apis.ts';
import { decodeRequestHeader, encodeRequestFrame } from '../../src/wire/headers.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts } from '../support/standalone-parts.ts';
import { decodeAnswer } from '../support/wire-client.ts';

/** What has the id `g`; `simple` holds offsets alone and is no streams group. */
type Holder = Extract<GroupState, 'Stable' | 'Empty'> | 'nothing';

const LENGTH_BYTES = 4;
const DENY_GROUPS: Authorizer = { allows: (_, _operation, type) => type !== 'GROUP' };

/** Asks a standalone coordinator in which the id is held so. */
async function ask<N extends ApiName>(
  holder: Holder | ErrorName,
  name: N,
  version: number,
  body: RequestInput<N>,
  change: { readonly authorizer?: Authorizer } = {},
): Promise<ResponseOf<N>> {
  const isState = holder === 'Stable' || holder === 'Empty';
  const parts = await standaloneParts({
    streamsGroup: async () => ({
      error: isState || holder === 'nothing' ? 'NONE' : holder,
      state: isState ? holder : undefined,
    }),
  });
  const { handlers } = createStandalone({ ...parts, ...change });
  const handler = handlers.get(apis[name].key) as Handler;
  const header = { correlationId: 0, clientId: 'c' };
  const frame = encodeRequestFrame(name, version, header, body).subarray(LENGTH_BYTES);
  const { bodyOffset } = decodeRequestHeader(frame);
  const answer = await handler({ ...incoming(version), frame, bodyOffset });
  return decodeAnswer(name, version, (answer as Buffer).subarray(LENGTH_BYTES));
}

const consumers = { protocolType: 'consumer', protocolName: 'range' };
const consumerBeat = {
  groupId: 'g',
  memberId: 'c',
  memberEpoch: 0,
  instanceId: null,
  rackId: null,
  rebalanceTimeoutMs: 1,
  subscribedTopicNames: [],
  subscribedTopicRegex: null,
  serverAssignor: null,
  topicPartitions: [],
};
const classicJoin = { groupId: 'g', memberId: '', protocolType: 'consumer' };

describe('groups of other types at a standalone coordinator (topology-and-admin 13, S42)', () => {
  for (const [holder, memberId, errorCode, told] of [
    ['Stable', '', 23, ''],
    ['Stable', 'a', 23, ''],
    ['Empty', '', 35, ''],
    ['Empty', 'ghost', 25, 'ghost'],
    ['nothing', '', 35, ''],
    ['nothing', 'ghost', 25, 'ghost'],
    ['COORDINATOR_LOAD_IN_PROGRESS', '', 14, ''],
  ] as const) {
    it(`JoinGroup as "${memberId}" to ${holder}: ${errorCode} (MEM-2, O-3)`, async () => {
      for (const version of [0, 6, 7, 9]) {
        const answer = await ask(holder, 'JoinGroup', version, { ...classicJoin, memberId });
        expect(answer).to.deep.equal({
          throttleTimeMs: 0,
          errorCode,
          generationId: -1,
          protocolType: null,
          protocolName: version >= 7 ? null : '',
          leader: '',
          skipAssignment: false,
          memberId: told,
          members: [],
        });
      }
    });
  }

  for (const holder of ['Stable', 'Empty', 'nothing'] as const) {
    it(`SyncGroup, Heartbeat and LeaveGroup to ${holder}: 25`, async () => {
      const member = { groupId: 'g', memberId: 'a' };
      const sync = { ...member, generationId: 2, protocolType: 'consumer', protocolName: 'range' };
      expect((await ask(holder, 'SyncGroup', 5, sync)).errorCode).to.equal(25);
      const unnamed = { ...sync, protocolName: null };
      expect((await ask(holder, 'SyncGroup', 4, unnamed)).errorCode).to.equal(25);
      expect((await ask(holder, 'SyncGroup', 5, unnamed)).errorCode).to.equal(23);
      const beat = await ask(holder, 'Heartbeat', 4, { ...member, generationId: 2 });
      expect(beat.errorCode).to.equal(25);
      expect((await ask(holder, 'LeaveGroup', 2, member)).errorCode).to.equal(25);
    });

    it(`LeaveGroup of several members to ${holder}: 25 for each`, async () => {
      const members = [{ memberId: 'a' }, { memberId: '', groupInstanceId: 'i' }];
      expect(await ask(holder, 'LeaveGroup', 5, { groupId: 'g', members })).to.deep.equal({
        throttleTimeMs: 0,
        errorCode: 0,
        members: [
          { memberId: 'a', groupInstanceId: null, errorCode: 25 },
          { memberId: '', groupInstanceId: 'i', errorCode: 25 },
        ],
      });
    });
  }

  for (const name of ['ConsumerGroupHeartbeat', 'ShareGroupHeartbeat'] as const) {
    for (const [holder, errorCode] of [
      ['Stable', 69],
      ['Empty', 69],
      ['nothing', 35],
      ['NOT_COORDINATOR', 16],
    ] as const) {
      it(`${name} to ${holder}: ${errorCode} (MEM-2)`, async () => {
        const answer = await ask(holder, name, 1, { groupId: 'g', memberId: 'c', memberEpoch: 0 });
        expect({ ...answer, errorMessage: answer.errorMessage !== null }).to.deep.equal({
          throttleTimeMs: 0,
          errorCode,
          errorMessage: errorCode === 69,
          memberId: null,
          memberEpoch: 0,
          heartbeatIntervalMs: 0,
          assignment: null,
        });
      });
    }
  }

  for (const name of ['ConsumerGroupDescribe', 'ShareGroupDescribe'] as const) {
    it(`${name}: 69 for every id, 24 for none`, async () => {
      const { groups } = await ask('Stable', name, 1, { groupIds: ['g', 'h', ''] });
      expect(groups.map(({ groupId, errorCode }) => [groupId, errorCode])).to.deep.equal([
        ['g', 69],
        ['h', 69],
        ['', 24],
      ]);
    });
  }

  it('an empty group id: 24 in the classic protocol, 35 where the protocol is off; no right to read the group: 30', async () => {
    const codes = async (
      holder: Holder,
      groupId: string,
      change: { readonly authorizer?: Authorizer } = {},
    ) => [
      (await ask(holder, 'JoinGroup', 9, { ...classicJoin, groupId }, change)).errorCode,
      (await ask(holder, 'SyncGroup', 5, { ...consumers, groupId }, change)).errorCode,
      (await ask(holder, 'Heartbeat', 4, { groupId }, change)).errorCode,
      (await ask(holder, 'LeaveGroup', 5, { groupId }, change)).errorCode,
      (await ask(holder, 'ConsumerGroupHeartbeat', 1, { groupId }, change)).errorCode,
      (await ask(holder, 'ShareGroupHeartbeat', 1, { groupId }, change)).errorCode,
    ];
    expect(await codes('nothing', '')).to.deep.equal([24, 24, 24, 24, 35, 35]);
    const authorizer = DENY_GROUPS;
    expect(await codes('Stable', 'g', { authorizer })).to.deep.equal([30, 30, 30, 30, 30, 30]);
  });

  it('says so in the log once per client, and not of a streams group that refuses', async () => {
    let state: GroupState | undefined;
    const parts = await standaloneParts({ streamsGroup: async () => ({ error: 'NONE', state }) });
    const join = answerJoinGroup(parts);
    const beat = answerOtherHeartbeat(parts);
    const request = { ...classicJoin, sessionTimeoutMs: 1, rebalanceTimeoutMs: 1 };
    const ask = async () => {
      const more = { groupInstanceId: null, protocols: [], reason: null };
      await join({ ...request, ...more }, incoming(9));
      await beat({ ...consumerBeat }, incoming(1));
    };
    state = 'Stable';
    await ask();
    expect(parts.log.told).to.deep.equal([]);
    state = undefined;
    await ask();
    await ask();
    const fields = { clientId: 'client-A', groupId: 'g' };
    const text = 'A member of another group type was turned away: such groups need --upstream';
    const line = { level: 'info', fields, text };
    expect(parts.log.told).to.deep.equal([line, line]);
  });
});
