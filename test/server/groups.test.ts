import { expect } from 'chai';
import type { DescribedGroup, ListedGroup } from '../../machines/commands.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';
import type { Authorizer } from '../../src/server/authorize.ts';
import { answerDescribe, answerTopologyDescription } from '../../src/server/handlers/describe.ts';
import {
  answerDeleteGroups,
  answerDescribeGroups,
  answerListGroups,
} from '../../src/server/handlers/groups.ts';
import { encodeResponseFrame } from '../../src/wire/headers.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts } from '../support/standalone-parts.ts';
import { decodeAnswer } from '../support/wire-client.ts';

const without = (...denied: readonly string[]): Authorizer => ({
  allows: (_, operation, type, name) => !denied.includes(`${operation} ${type} ${name}`),
});

const STREAMS: ListedGroup = {
  groupId: 'g',
  protocolType: 'streams',
  groupState: 'NotReady',
  groupType: 'streams',
};
const SIMPLE: ListedGroup = {
  groupId: 's',
  protocolType: '',
  groupState: 'Empty',
  groupType: 'classic',
};

describe('answerListGroups()', () => {
  const request = { statesFilter: ['Stable'], typesFilter: ['Streams'] };

  it('hands both filters over and shows what comes', async () => {
    const parts = await standaloneParts({
      list: async () => ({ error: 'NONE', groups: [STREAMS] }),
    });
    const response = await answerListGroups(parts)(request, incoming(5));
    expect(response).to.deep.equal({ errorCode: 0, groups: [STREAMS] });
    expect(parts.calls).to.deep.equal([
      { method: 'list', args: [{ states: ['Stable'], types: ['Streams'] }] },
    ]);
  });

  it('has state and type only in the versions that can carry them', async () => {
    const parts = await standaloneParts({
      list: async () => ({ error: 'NONE', groups: [STREAMS] }),
    });
    const seen = [];
    for (const version of [0, 3, 4, 5]) {
      const body = await answerListGroups(parts)(request, incoming(version));
      const frame = encodeResponseFrame('ListGroups', version, 1, body).subarray(4);
      const [group] = decodeAnswer('ListGroups', version, frame).groups;
      seen.push([group?.groupId, group?.protocolType, group?.groupState, group?.groupType]);
    }
    expect(seen).to.deep.equal([
      ['g', 'streams', '', ''],
      ['g', 'streams', '', ''],
      ['g', 'streams', 'NotReady', ''],
      ['g', 'streams', 'NotReady', 'streams'],
    ]);
  });

  it('shows those one may describe, without an error, unless one may describe the cluster (13.1)', async () => {
    const parts = await standaloneParts({
      list: async () => ({ error: 'NONE', groups: [STREAMS, SIMPLE] }),
    });
    const list = async (...denied: readonly string[]) => {
      const answer = answerListGroups({ ...parts, authorizer: without(...denied) });
      const { errorCode, groups } = await answer(request, incoming(5));
      return [errorCode, groups?.map(({ groupId }) => groupId)];
    };
    expect(await list('DESCRIBE GROUP g')).to.deep.equal([0, ['g', 's']]);
    expect(await list('DESCRIBE GROUP g', 'DESCRIBE CLUSTER kafka-cluster')).to.deep.equal([
      0,
      ['s'],
    ]);
  });

  it('answers with the error of a shard that cannot tell', async () => {
    const parts = await standaloneParts({
      list: async () => ({ error: 'COORDINATOR_LOAD_IN_PROGRESS', groups: [] }),
    });
    expect(await answerListGroups(parts)(request, incoming(5))).to.deep.equal({
      errorCode: 14,
      groups: [],
    });
  });
});

describe('answerDescribeGroups()', () => {
  async function describeGroups(version: number, error: ErrorName = 'NONE') {
    const parts = await standaloneParts({
      list: async ({ types }) => ({ error, groups: types[0] === 'classic' ? [SIMPLE] : [] }),
    });
    const request = { groups: ['g', 's'], includeAuthorizedOperations: false };
    const { groups = [] } = await answerDescribeGroups(parts)(request, incoming(version));
    return groups.map(({ groupId, errorCode = 0, groupState, protocolType, errorMessage }) => ({
      groupId,
      errorCode,
      groupState,
      protocolType,
      hasText: typeof errorMessage === 'string',
    }));
  }
  const simple = {
    groupId: 's',
    errorCode: 0,
    groupState: 'Empty',
    protocolType: '',
    hasText: false,
  };

  it('says of a streams group that it is dead, from version 6 on with 69 (topology-and-admin 13)', async () => {
    const dead = { groupId: 'g', groupState: 'Dead', protocolType: undefined };
    expect(await describeGroups(5)).to.deep.equal([
      { ...dead, errorCode: 0, hasText: false },
      simple,
    ]);
    expect(await describeGroups(6)).to.deep.equal([
      { ...dead, errorCode: 69, hasText: true },
      simple,
    ]);
  });

  it('answers a shard error in every entry', async () => {
    const entries = await describeGroups(6, 'COORDINATOR_LOAD_IN_PROGRESS');
    expect(entries.map(({ errorCode }) => errorCode)).to.deep.equal([14, 14]);
  });

  it('tells the operations that are allowed when asked', async () => {
    const parts = await standaloneParts({
      list: async () => ({ error: 'NONE', groups: [SIMPLE] }),
    });
    const answer = answerDescribeGroups({ ...parts, authorizer: without('DELETE GROUP s') });
    const request = { groups: ['s'], includeAuthorizedOperations: true };
    const { groups } = await answer(request, incoming(5));
    // Read 3, describe 8, describe configs 10, alter configs 11.
    expect(groups?.[0]?.authorizedOperations).to.equal(8 + 256 + 1024 + 2048);
  });

  it('tells no operations of a group that is not there, in the version that says so (FINDINGS)', async () => {
    const parts = await standaloneParts({ list: async () => ({ error: 'NONE', groups: [] }) });
    const request = { groups: ['none'], includeAuthorizedOperations: true };
    const shown = async (version: number) => {
      const { groups } = await answerDescribeGroups(parts)(request, incoming(version));
      return [groups?.[0]?.errorCode ?? 0, groups?.[0]?.authorizedOperations];
    };
    expect([await shown(5), await shown(6)]).to.deep.equal([
      [0, 8 + 64 + 256 + 1024 + 2048],
      [69, -(2 ** 31)],
    ]);
  });
});

describe('answerDeleteGroups()', () => {
  async function deleteGroups(version: number, error: ErrorName, ids: readonly string[] = ['g']) {
    const parts = await standaloneParts({
      delete: async (groupIds) => groupIds.map((groupId) => ({ groupId, error, message: 'text' })),
    });
    const answer = answerDeleteGroups({ ...parts, authorizer: without('DELETE GROUP no') });
    const { results } = await answer({ groupsNames: ids }, incoming(version));
    return results?.map(({ groupId, errorCode }) => [groupId, errorCode]);
  }

  it('answers an id that is named twice once, and what one may not delete with 30', async () => {
    expect(await deleteGroups(2, 'NONE', ['g', 'no', 'g'])).to.deep.equal([
      ['no', 30],
      ['g', 0],
    ]);
  });

  it('tells clients below version 3 of a failed plugin with -1 (16.7a)', async () => {
    expect(await deleteGroups(3, 'GROUP_DELETION_FAILED')).to.deep.equal([['g', 134]]);
    expect(await deleteGroups(2, 'GROUP_DELETION_FAILED')).to.deep.equal([['g', -1]]);
    expect(await deleteGroups(2, 'NON_EMPTY_GROUP')).to.deep.equal([['g', 68]]);
  });
});

const noTasks = { activeTasks: [], standbyTasks: [], warmupTasks: [] };
const GROUP: DescribedGroup = {
  error: 'NONE',
  errorMessage: null,
  groupId: 'g',
  groupState: 'Stable',
  groupEpoch: 3,
  assignmentEpoch: 3,
  topology: {
    epoch: 0,
    subtopologies: [
      {
        subtopologyId: '0',
        sourceTopics: ['in'],
        repartitionSinkTopics: ['out-r'],
        stateChangelogTopics: [
          {
            name: 'c',
            partitions: 2,
            replicationFactor: 0,
            topicConfigs: [{ key: 'cleanup.policy', value: 'compact' }],
          },
        ],
        repartitionSourceTopics: [
          { name: 'r', partitions: 2, replicationFactor: 1, topicConfigs: [] },
        ],
      },
    ],
  },
  members: [
    {
      memberId: 'm',
      memberEpoch: 3,
      instanceId: null,
      rackId: 'rack',
      clientId: 'client-A',
      clientHost: '/127.0.0.1',
      topologyEpoch: 0,
      processId: 'p',
      userEndpoint: { host: 'h', port: 65_535 },
      clientTags: [{ key: 'zone', value: 'a' }],
      taskOffsets: [{ subtopologyId: '0', partition: 1, offset: 2n ** 53n + 1n }],
      taskEndOffsets: [],
      assignment: { ...noTasks, activeTasks: [{ subtopologyId: '0', partitions: [0, 1] }] },
      targetAssignment: noTasks,
      isClassic: false,
    },
  ],
  assignorName: 'sticky',
};
const MISSING: DescribedGroup = {
  ...GROUP,
  error: 'GROUP_ID_NOT_FOUND',
  errorMessage: 'text',
  groupState: '',
  groupEpoch: 0,
  assignmentEpoch: 0,
  topology: null,
  members: [],
  assignorName: null,
};

describe('answerDescribe()', () => {
  const all = {
    groupIds: ['g'],
    includeAuthorizedOperations: false,
    includeTopologyDescription: true,
  };

  async function describeOn(
    version: number,
    change: { authorizer?: Authorizer; streamsEnabled?: boolean; group?: DescribedGroup } = {},
    request = all,
  ) {
    const { group = GROUP, ...rest } = change;
    const parts = await standaloneParts({
      describe: async (ids) => ids.map((groupId) => ({ ...group, groupId })),
    });
    const body = await answerDescribe({ ...parts, ...rest })(request, incoming(version));
    const frame = encodeResponseFrame('StreamsGroupDescribe', version, 1, body).subarray(4);
    return decodeAnswer('StreamsGroupDescribe', version, frame).groups;
  }

  const { error: _error, ...shown } = GROUP;

  it('shows every field of the group in version 1; no plugin has a description (12.1, 16.8)', async () => {
    expect(await describeOn(1)).to.deep.equal([
      {
        ...shown,
        errorCode: 0,
        authorizedOperations: -2_147_483_648,
        topologyDescription: null,
        topologyDescriptionStatus: 1,
      },
    ]);
  });

  it('leaves assignor and description out of version 0', async () => {
    expect(await describeOn(0)).to.deep.equal([
      {
        ...shown,
        errorCode: 0,
        assignorName: null,
        authorizedOperations: -2_147_483_648,
        topologyDescription: null,
        topologyDescriptionStatus: 0,
      },
    ]);
  });

  it('shows errors bare, whatever else was asked (FINDINGS C)', async () => {
    const request = { ...all, includeAuthorizedOperations: true };
    const { error: _missing, ...bare } = MISSING;
    expect(await describeOn(1, { group: MISSING }, request)).to.deep.equal([
      {
        ...bare,
        errorCode: 69,
        authorizedOperations: -2_147_483_648,
        topologyDescription: null,
        topologyDescriptionStatus: 0,
      },
    ]);
  });

  it('tells the operations that are allowed when asked (12.4)', async () => {
    const request = { ...all, includeAuthorizedOperations: true };
    const [group] = await describeOn(1, {}, request);
    expect(group?.authorizedOperations).to.equal(8 + 64 + 256 + 1024 + 2048);
  });

  it('answers one id twice twice', async () => {
    const groups = await describeOn(1, {}, { ...all, groupIds: ['g', 'g'] });
    expect(groups.map(({ groupId }) => groupId)).to.deep.equal(['g', 'g']);
  });

  it('answers 35 in each entry when the protocol is off (12.2.1)', async () => {
    const groups = await describeOn(1, { streamsEnabled: false });
    expect(groups.map(({ groupId, errorCode }) => [groupId, errorCode])).to.deep.equal([['g', 35]]);
  });

  it('answers 30 without the right to describe the group (12.2.2)', async () => {
    const authorizer = without('DESCRIBE GROUP g');
    const groups = await describeOn(1, { authorizer }, { ...all, groupIds: ['g', 'h'] });
    expect(groups.map(({ groupId, errorCode }) => [groupId, errorCode])).to.deep.equal([
      ['g', 30],
      ['h', 0],
    ]);
  });

  for (const topic of ['in', 'out-r', 'c', 'r']) {
    it(`answers 29, and nothing of the group, without the right to describe ${topic} (12.2.7)`, async () => {
      const [group] = await describeOn(1, { authorizer: without(`DESCRIBE TOPIC ${topic}`) });
      expect(group).to.deep.include({ groupId: 'g', errorCode: 29, members: [], topology: null });
      expect(group?.errorMessage).to.be.a('string');
    });
  }
});

describe('answerTopologyDescription()', () => {
  const request = {
    groupId: '',
    memberId: '',
    topologyEpoch: 0,
    topologyDescription: { subtopologies: [], globalStores: [] },
  };

  it('answers 35 with a text before anything is looked at: no plugin (16.7)', async () => {
    const response = await answerTopologyDescription(await standaloneParts())(request, incoming(0));
    expect(response).to.deep.include({ errorCode: 35 });
    expect(response.errorMessage).to.include('no plugin');
  });

  it('answers 30 first to who may not read the group', async () => {
    const parts = { ...(await standaloneParts()), authorizer: without('READ GROUP ') };
    expect((await answerTopologyDescription(parts)(request, incoming(0))).errorCode).to.equal(30);
  });
});
