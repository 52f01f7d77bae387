import { expect } from 'chai';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { type Authorizer, allowAll } from '../../src/server/authorize.ts';
import type { HeartbeatParts } from '../../src/server/handlers/heartbeat.ts';
import { answerHeartbeat, warnOfNoData } from '../../src/server/handlers/heartbeat.ts';
import type { RequestOf } from '../../src/wire/apis.ts';
import { decodeRequest } from '../../src/wire/apis.ts';
import { decodeRequestHeader, encodeRequestFrame } from '../../src/wire/headers.ts';
import { Reader } from '../../src/wire/reader.ts';
import { fakeGroupCoordinator, IDLE_ANSWER } from '../support/fake-group-coordinator.ts';
import { FakeConnection, incoming } from '../support/incoming.ts';
import { KeptLog } from '../support/kept-log.ts';

type Request = RequestOf<'StreamsGroupHeartbeat'>;

/** A request as the codec would have decoded it. */
function heartbeat(
  fields: Parameters<typeof encodeRequestFrame<'StreamsGroupHeartbeat'>>[3],
): Request {
  const header = { correlationId: 1, clientId: 'c' };
  const frame = encodeRequestFrame('StreamsGroupHeartbeat', 1, header, {
    groupId: 'g',
    memberId: 'm',
    ...fields,
  }).subarray(4);
  const { bodyOffset } = decodeRequestHeader(frame);
  return decodeRequest('StreamsGroupHeartbeat', 1, new Reader(frame, bodyOffset));
}

function topology(names: {
  readonly sources?: readonly string[];
  readonly sinks?: readonly string[];
  readonly changelogs?: readonly string[];
  readonly repartitions?: readonly string[];
}) {
  return {
    epoch: 0,
    subtopologies: [
      {
        subtopologyId: '0',
        sourceTopics: names.sources ?? ['in'],
        repartitionSinkTopics: names.sinks ?? [],
        stateChangelogTopics: (names.changelogs ?? []).map((name) => ({ name })),
        repartitionSourceTopics: (names.repartitions ?? []).map((name) => ({ name })),
      },
    ],
  };
}

function parts(
  change: Partial<HeartbeatParts> = {},
  answer: () => Promise<HeartbeatAnswer> = () => Promise.resolve(IDLE_ANSWER),
) {
  const { coordinator, calls } = fakeGroupCoordinator({ heartbeat: answer });
  const log = new KeptLog();
  const made: HeartbeatParts = {
    coordinator,
    topics: { ensureKnown: () => Promise.resolve(true) },
    patterns: { search: () => Promise.reject(new Error('Nothing is searched for')) },
    authorizer: allowAll,
    behaviour: resolveBehaviour('kip'),
    streamsEnabled: true,
    log,
    ...change,
  };
  return { answer: answerHeartbeat(made), calls, log };
}

/** Allows all but these. */
const without = (...denied: readonly string[]): Authorizer => ({
  allows: (_, operation, type, name) => !denied.includes(`${operation} ${type} ${name}`),
});

describe('answerHeartbeat()', () => {
  it('sends an empty status list rather than null when there is nothing to say (X12, 9.1)', async () => {
    const { answer } = parts();
    const response = await answer(heartbeat({ memberEpoch: 2 }), incoming(1));
    expect([IDLE_ANSWER.statuses, response.status]).to.deep.equal([[], []]);
  });

  it('hands the decoded request over as it is, with who asks', async () => {
    const { answer, calls } = parts();
    const request = heartbeat({ memberEpoch: 2 });
    await answer(request, incoming(1));
    expect(calls).to.deep.equal([
      {
        method: 'heartbeat',
        args: [
          request,
          {
            clientId: 'client-A',
            clientHost: '/127.0.0.1',
            apiVersion: 1,
            mayNotCreate: undefined,
          },
        ],
      },
    ]);
    expect(calls[0]?.args[0]).to.equal(request);
  });

  it('answers 35 when the protocol is off (REQ-1, A-1)', async () => {
    const { answer, calls } = parts({ streamsEnabled: false });
    expect(await answer(heartbeat({}), incoming(1))).to.deep.equal({
      errorCode: 35,
      errorMessage: null,
    });
    expect(calls).to.deep.equal([]);
  });

  it('answers 30 without READ on the group (REQ-2, A-2)', async () => {
    const { answer, calls } = parts({ authorizer: without('READ GROUP g') });
    expect(await answer(heartbeat({}), incoming(1))).to.deep.include({ errorCode: 30 });
    expect(calls).to.deep.equal([]);
  });

  it('S66 A topic named twice is one topic', async () => {
    const asked: string[] = [];
    const authorizer: Authorizer = {
      allows: (_, operation, type, name) => {
        if (type === 'TOPIC') asked.push(`${operation} ${name}`);
        return true;
      },
    };
    const { answer } = parts({ authorizer });
    const repartition = 'app-r-repartition';
    const sent = topology({
      sinks: [repartition],
      repartitions: [repartition],
      changelogs: ['app-agg-changelog'],
    });
    expect(await answer(heartbeat({ topology: sent }), incoming(1))).to.include({ errorCode: 0 });
    expect(asked).to.deep.equal([
      'DESCRIBE app-agg-changelog',
      'DESCRIBE app-r-repartition',
      'DESCRIBE in',
    ]);
  });

  for (const role of ['sources', 'sinks', 'changelogs', 'repartitions'] as const) {
    it(`S68 Every field that names a topic is checked: ${role} (REQ-4, A-5)`, async () => {
      const { answer, calls } = parts({ authorizer: without('DESCRIBE TOPIC secret') });
      const request = heartbeat({ topology: topology({ [role]: ['secret'] }) });
      expect(await answer(request, incoming(1))).to.deep.equal({
        errorCode: 29,
        errorMessage: null,
      });
      expect(calls).to.deep.equal([]);
    });
  }

  for (const name of ['__consumer_offsets', 'a/b', '']) {
    it(`S68 The name "${name}" is refused before an authorizer is asked (REQ-3)`, async () => {
      const authorizer: Authorizer = {
        allows: (_, _operation, type) => {
          if (type === 'TOPIC') throw new Error('asked');
          return true;
        },
      };
      const { answer, calls } = parts({ authorizer });
      const request = heartbeat({ topology: topology({ changelogs: [name] }) });
      expect(await answer(request, incoming(1))).to.include({ errorCode: 130 });
      expect(calls).to.deep.equal([]);
    });
  }

  const MAP = [
    {
      userEndpoint: { host: 'h', port: 1 },
      activePartitions: [
        { topic: 'in', partitions: [0] },
        { topic: 'secret', partitions: [1] },
      ],
      standbyPartitions: [{ topic: 'secret', partitions: [2] }],
    },
  ];

  it('S68 leaves topics one may not see out of the endpoint map, the entry stays (I-12, IQ-4)', async () => {
    const { answer } = parts({ authorizer: without('DESCRIBE TOPIC secret') }, () =>
      Promise.resolve({ ...IDLE_ANSWER, partitionsByUserEndpoint: MAP }),
    );
    const response = await answer(heartbeat({ memberEpoch: 2 }), incoming(1));
    expect(response.partitionsByUserEndpoint).to.deep.equal([
      {
        userEndpoint: { host: 'h', port: 1 },
        activePartitions: [{ topic: 'in', partitions: [0] }],
        standbyPartitions: [],
      },
    ]);
  });

  it('S68 sends the endpoint map unfiltered in profile kafka (I-12)', async () => {
    const { answer } = parts(
      {
        authorizer: without('DESCRIBE TOPIC secret'),
        behaviour: resolveBehaviour('kafka'),
      },
      () => Promise.resolve({ ...IDLE_ANSWER, partitionsByUserEndpoint: MAP }),
    );
    const response = await answer(heartbeat({ memberEpoch: 2 }), incoming(1));
    expect(response.partitionsByUserEndpoint).to.deep.equal(MAP);
  });

  it('asks about the topics of a topology first, and has later requests wait for that', async () => {
    const asked: (readonly string[])[] = [];
    let known = () => {};
    const { answer, calls } = parts({
      topics: {
        ensureKnown: (names) => {
          asked.push(names);
          return new Promise((resolve) => {
            known = () => resolve(true);
          });
        },
      },
    });
    const connection = new FakeConnection();
    const request = heartbeat({
      topology: topology({ sinks: ['only-written'], changelogs: ['c'] }),
    });
    const answered = answer(request, incoming(1, connection));
    expect(asked).to.deep.equal([['c', 'in']]);
    expect(connection.holds).to.have.length(1);
    expect(calls).to.deep.equal([]);
    known();
    await connection.holds[0];
    expect(calls.map(({ method }) => method)).to.deep.equal(['heartbeat']);
    expect(await answered).to.include({ errorCode: 0, memberEpoch: 2 });
  });

  it('has patterns searched for, and hands over what they stand for (R-1, R-9)', async () => {
    const search = { kind: 'failed', reason: 'away' } as const;
    const searched: (readonly string[])[] = [];
    const patterns = {
      search: async (wanted: readonly string[]) => {
        searched.push(wanted);
        return search;
      },
    };
    const { subtopologies, epoch } = topology({});
    const [one] = subtopologies;
    if (one === undefined) throw new Error('The topology has no subtopology');
    const regexes = { epoch, subtopologies: [{ ...one, sourceTopicRegex: ['a', 'b', 'a'] }] };
    const request = heartbeat({ topology: regexes });
    const kip = parts({ patterns });
    await kip.answer(request, incoming(1));
    expect(searched).to.deep.equal([['a', 'b']]);
    expect(kip.calls.map(({ args: [handed] }) => handed)).to.deep.equal([
      { ...request, patternSearch: search },
    ]);
    const kafka = parts({ patterns, behaviour: resolveBehaviour('kafka') });
    await kafka.answer(request, incoming(1));
    expect(searched).to.have.length(1);
    expect(kafka.calls.map(({ args: [handed] }) => handed)).to.deep.equal([request]);
  });

  it('asks about no topics and holds nothing up when no topology is sent', async () => {
    const { answer } = parts({
      topics: {
        ensureKnown: () => {
          throw new Error('asked');
        },
      },
    });
    const connection = new FakeConnection();
    await answer(heartbeat({ memberEpoch: 2 }), incoming(1, connection));
    expect(connection.holds).to.deep.equal([]);
  });

  it('answers 15 when the coordinator fails, with one log line', async () => {
    for (const fail of [
      () => Promise.reject(new Error('broken')),
      () => {
        throw new Error('broken');
      },
    ]) {
      const { answer, log } = parts({}, fail);
      for (const sent of [{ memberEpoch: 2 }, { topology: topology({}) }]) {
        expect(await answer(heartbeat(sent), incoming(1))).to.deep.equal({
          errorCode: 15,
          errorMessage: null,
        });
      }
      expect(log.told.map(({ text }) => text)).to.deep.equal([
        'Heartbeat failed',
        'Heartbeat failed',
      ]);
    }
  });
});

describe('warnOfNoData()', () => {
  it('tells once per client that joins, and never for other heartbeats', async () => {
    const log = new KeptLog();
    const answer = warnOfNoData(log, () => ({}));
    const from = (clientId: string) => ({ ...incoming(1), clientId });
    await answer(heartbeat({ memberEpoch: 3 }), from('a'));
    await answer(heartbeat({ memberEpoch: 0 }), from('a'));
    await answer(heartbeat({ memberEpoch: 0 }), from('a'));
    await answer(heartbeat({ memberEpoch: 0 }), from('b'));
    expect(log.lines.map(({ fields }) => fields)).to.deep.equal([
      { clientId: 'a', groupId: 'g' },
      { clientId: 'b', groupId: 'g' },
    ]);
  });

  it('remembers a bounded number of clients', async () => {
    const log = new KeptLog();
    const answer = warnOfNoData(log, () => ({}));
    for (let id = 0; id < 2_000; id++) {
      await answer(heartbeat({ memberEpoch: 0 }), { ...incoming(1), clientId: String(id) });
    }
    expect(log.lines).to.have.length(1_000);
  });
});
