import { expect } from 'chai';
import type { HistoryHead, Step } from './history.ts';
import { playHistory, type Scene, type Servers, scriptOf } from './play-history.ts';
import { shrinkHistory } from './shrink-history.ts';

const HEAD: HistoryHead = {
  name: 'seed-1',
  title: 'a history',
  rules: [],
  seed: 1,
  awaitInternalTopics: true,
  topics: {},
  topologies: {},
  members: {},
  groupConfigs: {},
};

/** A server that answers by a rule, and a note of what was done to it. */
function sceneOf(answer: (step: Step) => unknown, log: string[] = []): () => Scene {
  return () => ({
    setUp: async () => void log.push('set up'),
    step: async (step) => {
      log.push(step.do);
      return answer(step);
    },
    dispose: async () => void log.push('disposed'),
  });
}

function serversOf(
  real: (step: Step) => unknown,
  ours: (step: Step) => unknown,
  log?: string[],
): Servers {
  return {
    real: sceneOf(real, log),
    ours: sceneOf(ours),
    compare: (_, expected, got) =>
      JSON.stringify(expected) === JSON.stringify(got)
        ? []
        : [{ path: 'errorCode', expected, got }],
  };
}

const steps = (...kinds: string[]): Step[] => kinds.map((kind) => ({ do: kind }));

describe('playHistory()', () => {
  it('plays all steps, keeps what was answered, and gives everything back', async () => {
    const log: string[] = [];
    const answer = ({ do: kind }: Step) => (kind === 'close' ? undefined : { errorCode: 0 });
    const script = scriptOf(steps('join', 'close', 'list'));
    expect(await playHistory(serversOf(answer, answer, log), HEAD, script)).to.deep.equal({
      steps: [
        { do: 'join', answer: { errorCode: 0 } },
        { do: 'close' },
        { do: 'list', answer: { errorCode: 0 } },
      ],
      parting: undefined,
      explained: new Map(),
    });
    expect(log).to.deep.equal(['set up', 'join', 'close', 'list', 'disposed']);
  });

  it('stops at the first answer that differs', async () => {
    const servers = serversOf(
      () => ({ errorCode: 0 }),
      ({ do: kind }) => ({ errorCode: kind === 'ack' ? 25 : 0 }),
    );
    const { steps: played, parting } = await playHistory(
      servers,
      HEAD,
      scriptOf(steps('join', 'ack', 'list')),
    );
    expect(played.length).to.equal(2);
    expect(parting).to.deep.equal({
      at: 1,
      step: { do: 'ack' },
      real: { errorCode: 0 },
      ours: { errorCode: 25 },
      differences: [{ path: 'errorCode', expected: { errorCode: 0 }, got: { errorCode: 25 } }],
    });
  });

  it('ends without a fault where a refusal has changed what Kafka remembers', async () => {
    const answer = ({ do: kind }: Step) => ({ errorCode: kind === 'beat' ? 82 : 0 });
    const outcome = await playHistory(
      serversOf(answer, answer),
      HEAD,
      scriptOf(steps('join', 'beat', 'list')),
    );
    expect(outcome.steps.length).to.equal(2);
    expect(outcome.parting).to.equal(undefined);
    expect([...outcome.explained]).to.deep.equal([['refused under a foreign instance id', 1]]);
  });

  it('ends where Kafka failed inside, alone or while a group settled, and compares nothing', async () => {
    const lengthOf = async (step: Step, answer: unknown) => {
      const servers = serversOf(
        () => answer,
        () => ({ memberEpoch: 2 }),
      );
      const { steps: played, parting } = await playHistory(servers, HEAD, scriptOf([step, step]));
      return [played.length, parting?.differences.length];
    };
    const failure = { errorCode: -1 };
    const settled = { members: { A: {}, B: failure } };
    expect(await lengthOf({ do: 'beat', as: 'A' }, failure)).to.deep.equal([1, undefined]);
    expect(await lengthOf({ do: 'settle' }, settled)).to.deep.equal([1, undefined]);
    expect(await lengthOf({ do: 'list' }, failure), 'no heartbeat').to.deep.equal([1, 1]);
  });

  it('goes on when a member is refused the instance id that it has itself', async () => {
    const answers = [{ memberEpoch: 2 }, { errorCode: 111 }, {}];
    const answering = () => {
      let at = 0;
      return () => answers[at++];
    };
    const join = { do: 'join', as: 'A' };
    const head = { ...HEAD, members: { A: { instanceId: 'iA' } } };
    const play = (some: readonly Step[]) =>
      playHistory(serversOf(answering(), answering()), head, scriptOf(some));
    const goesOn = await play([join, join, { do: 'list' }]);
    expect([goesOn.steps.length, goesOn.explained.size]).to.deep.equal([3, 0]);
    const ends = await play([join, { ...join, send: { memberId: 'B' } }, { do: 'list' }]);
    expect([ends.steps.length, ends.explained.size]).to.deep.equal([2, 1]);
  });

  it('goes on past a difference that is explained, and counts it', async () => {
    const path = 'topology.subtopologies[0].stateChangelogTopics[0].partitions';
    const servers: Servers = {
      ...serversOf(
        () => 0,
        () => 3,
      ),
      compare: (_, expected, got) => [{ path, expected, got }],
    };
    const outcome = await playHistory(servers, HEAD, scriptOf(steps('describe', 'describe')));
    expect(outcome.parting).to.equal(undefined);
    expect([...outcome.explained]).to.deep.equal([['described topology is late', 2]]);
  });

  it('gives everything back when a server fails', async () => {
    const log: string[] = [];
    const fails = () => {
      throw new Error('The server is gone');
    };
    const played = playHistory(
      serversOf(fails, () => 0, log),
      HEAD,
      scriptOf(steps('join')),
    );
    expect(await played.then(() => '', String)).to.equal('Error: The server is gone');
    expect(log).to.deep.equal(['set up', 'join', 'disposed']);
  });
});

describe('shrinkHistory()', () => {
  const showsBoth = async (some: readonly Step[]) =>
    some.some((step) => step.do === 'join') && some.at(-1)?.do === 'ack';

  it('leaves only what shows the difference', async () => {
    const all = steps('list', 'close', 'list', 'join', 'list', 'close', 'list', 'ack');
    expect(await shrinkHistory(all, showsBoth, 100)).to.deep.equal(steps('join', 'ack'));
  });

  it('keeps all steps when none can go', async () => {
    const all = steps('join', 'ack');
    expect(await shrinkHistory(all, showsBoth, 100)).to.deep.equal(all);
  });

  it('asks no more often than it may', async () => {
    let asked = 0;
    const all = steps(...Array.from({ length: 100 }, () => 'list'), 'ack');
    await shrinkHistory(all, async () => ++asked < 0, 17);
    expect(asked).to.equal(17);
  });
});
