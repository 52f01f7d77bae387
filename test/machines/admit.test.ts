import { expect } from 'chai';
import type { HeartbeatRequest } from '../../machines/commands.ts';
import { refuseBadFields } from '../../machines/decide/admit.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import { readTasks } from '../support/task-notation.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

const subtopology = {
  subtopologyId: '0',
  sourceTopics: ['in'],
  sourceTopicRegex: [],
  stateChangelogTopics: [],
  repartitionSinkTopics: [],
  repartitionSourceTopics: [],
  copartitionGroups: [],
};

const join: HeartbeatRequest = {
  groupId: 'g',
  memberId: 'A',
  memberEpoch: 0,
  endpointInformationEpoch: 0,
  instanceId: null,
  rackId: null,
  rebalanceTimeoutMs: 60_000,
  topology: { epoch: 0, subtopologies: [subtopology] },
  activeTasks: [],
  standbyTasks: [],
  warmupTasks: [],
  processId: null,
  userEndpoint: null,
  clientTags: null,
  taskOffsets: null,
  taskEndOffsets: null,
  shutdownApplication: false,
};
const beat: HeartbeatRequest = {
  ...join,
  memberEpoch: 5,
  rebalanceTimeoutMs: -1,
  topology: null,
  activeTasks: null,
  standbyTasks: null,
  warmupTasks: null,
};

/** Error and words of the refusal; undefined when the fields stand. */
function refusal(request: HeartbeatRequest, behaviour = kip): string | undefined {
  try {
    refuseBadFields(request, behaviour);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `${error.error}: ${error.text}`;
  }
}

describe('refuseBadFields()', () => {
  it('lets a join, a heartbeat and a bare leave pass', () => {
    expect(refusal(join)).to.equal(undefined);
    expect(refusal(beat)).to.equal(undefined);
    expect(refusal({ ...beat, memberEpoch: -1 })).to.equal(undefined);
  });

  it('names the first fault of many, in the order of REQ-6 to REQ-10', () => {
    const faults: readonly [string, Partial<HeartbeatRequest>][] = [
      ['MemberId', { memberId: ' ' }],
      ['GroupId', { groupId: '' }],
      ['InstanceId', { instanceId: '\t' }],
      ['RackId', { rackId: '' }],
      ['RebalanceTimeoutMs', { rebalanceTimeoutMs: -1 }],
      ['ActiveTasks', { activeTasks: null }],
      ['StandbyTasks', { standbyTasks: readTasks('0:[1]') }],
      ['WarmupTasks', { warmupTasks: readTasks('0:[1]') }],
      ['Topology', { topology: null }],
    ];
    for (const behaviour of [kip, kafka]) {
      for (let from = 0; from < faults.length; from++) {
        const request = Object.assign({ ...join }, ...faults.slice(from).map(([, fault]) => fault));
        const name = faults[from]?.[0];
        expect(refusal(request, behaviour)).to.match(new RegExp(`^INVALID_REQUEST: ${name} `));
      }
    }
  });

  it('names the missing instance id of a break before partial lists (REQ-13, REQ-15)', () => {
    const request = { ...beat, memberEpoch: -2, activeTasks: [] };
    expect(refusal(request)).to.match(/^INVALID_REQUEST: InstanceId /);
  });

  it('refuses epochs below -2 (REQ-14)', () => {
    expect(refusal({ ...beat, memberEpoch: -3 })).to.match(/^INVALID_REQUEST: MemberEpoch /);
  });

  it('refuses some of the three lists, at any epoch (REQ-15)', () => {
    for (const memberEpoch of [5, -1]) {
      expect(refusal({ ...beat, memberEpoch, warmupTasks: [] })).to.match(/^INVALID_REQUEST: Acti/);
    }
  });

  it('refuses a topology outside a join (REQ-15)', () => {
    for (const memberEpoch of [5, -1]) {
      const request = { ...beat, memberEpoch, topology: join.topology };
      expect(refusal(request)).to.match(/^INVALID_REQUEST: Topology /);
    }
  });

  it('refuses a task in two roles; in profile kafka it does not look (REQ-15, X8)', () => {
    const own = readTasks('0:[0]');
    const request = { ...beat, activeTasks: own, standbyTasks: own, warmupTasks: [] };
    expect(refusal(request)).to.match(/^INVALID_REQUEST: A task /);
    expect(refusal(request, kafka)).to.equal(undefined);
  });

  it('refuses a rebalance timeout of 0; in profile kafka only -1 (REQ-10, X9)', () => {
    const request = { ...join, rebalanceTimeoutMs: 0 };
    expect(refusal(request)).to.match(/^INVALID_REQUEST: RebalanceTimeoutMs /);
    expect(refusal(request, kafka)).to.equal(undefined);
  });

  const withPattern = {
    epoch: 0,
    subtopologies: [{ ...subtopology, sourceTopicRegex: ['a.*'] }],
  };

  it('refuses patterns before everything else where they are not resolved (REQ-12, X10, R-9)', () => {
    const text =
      'INVALID_REQUEST: Cannot use topology: subtopology "0" has a source topic pattern, which is not taken here';
    expect(refusal({ ...join, memberId: '', topology: withPattern }, kafka)).to.equal(text);
    const refusing = resolveBehaviour('kip', { resolveSourceTopicRegex: false });
    expect(refusal({ ...join, memberId: '', topology: withPattern }, refusing)).to.equal(text);
    expect(refusal({ ...beat, memberId: '' }, kafka)).to.match(/^INVALID_REQUEST: MemberId /);
  });

  it('refuses a pattern that is none after everything else (R-1)', () => {
    const patternSearch = {
      kind: 'refused',
      error: 'INVALID_REGULAR_EXPRESSION',
      reason: 'it is odd',
    } as const;
    const request = { ...join, topology: withPattern, patternSearch };
    expect(refusal(request)).to.equal('INVALID_REGULAR_EXPRESSION: Cannot use topology: it is odd');
    expect(refusal({ ...request, rackId: '' })).to.match(/^INVALID_REQUEST: RackId /);
    expect(refusal({ ...request, patternSearch: undefined })).to.equal(undefined);
  });

  it('looks into the topology last (REQ-11)', () => {
    const changelog = { name: 'c', partitions: 3, replicationFactor: 0, topicConfigs: [] };
    const subtopologies = [{ ...subtopology, stateChangelogTopics: [changelog] }];
    const request = { ...join, topology: { epoch: 0, subtopologies } };
    expect(refusal(request)).to.match(/^STREAMS_INVALID_TOPOLOGY: /);
    expect(refusal({ ...request, rackId: '' })).to.match(/^INVALID_REQUEST: RackId /);
  });
});
