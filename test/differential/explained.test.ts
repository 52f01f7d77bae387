import { expect } from 'chai';
import { type Difference, judge } from './explained.ts';
import type { Step } from './history.ts';
import { Picture } from './picture.ts';

const HEAD = {
  name: 'seed-1',
  title: 'a history',
  rules: [],
  seed: 1,
  awaitInternalTopics: true,
  topics: { in1: 4 },
  topologies: {},
  members: { A: { instanceId: 'iA' }, F: { instanceId: 'iA' }, B: {} },
  groupConfigs: {},
} as const;

/** What clients know after these steps with their answers. */
function knowing(...steps: readonly (readonly [step: Step, answer: unknown])[]): Picture {
  const picture = new Picture(HEAD);
  for (const [step, answer] of steps) picture.learn(step, answer);
  return picture;
}

/** The verdict in words: explanations, paths of the faults, and whether it ends. */
function judged(
  step: Step,
  answers: { readonly real: unknown; readonly ours: unknown },
  differences: readonly Partial<Difference>[] = [],
  before: Picture = knowing(),
) {
  const whole = differences.map((each) => ({ path: '', expected: undefined, got: 0, ...each }));
  const { notes, faults, isOver } = judge({ step, ...answers, before }, () => whole);
  return [notes, faults.map(({ path }) => path), isOver];
}

const joinOf = (as: string, send?: object): Step => ({ do: 'join', as, ...(send && { send }) });
const JOINED = { memberEpoch: 2 };
const ERROR = { path: 'errorCode' };
const TEXT = { path: 'errorMessage' };

describe('judge()', () => {
  it('finds a fault in every heartbeat of ours that fails inside, whatever Kafka answers (ORD-4)', () => {
    const failure = { errorCode: -1 };
    for (const real of [failure, JOINED]) {
      const answers = { real, ours: failure };
      for (const kind of ['join', 'beat', 'ack', 'leave']) {
        expect(judged({ do: kind, as: 'A' }, answers)).to.deep.equal([[], ['errorCode'], true]);
      }
      const settled = { real: { members: { A: real } }, ours: { members: { A: failure } } };
      expect(judged({ do: 'settle' }, settled)).to.deep.equal([[], ['errorCode'], true]);
    }
    expect(judged({ do: 'list' }, { real: failure, ours: failure })).to.deep.equal([[], [], false]);
  });

  it('explains how a topology that contradicts itself is refused, and goes on', () => {
    for (const topology of ['twice', 'negative', 'outside']) {
      const step = joinOf('A', { topology });
      const ours = { errorCode: 130 };
      for (const errorCode of [-1, 42, 111]) {
        const [notes, faults] = judged(step, { real: { errorCode }, ours }, [ERROR, TEXT]);
        expect([notes, faults]).to.deep.equal([
          [
            'topology that contradicts itself',
            'topology that contradicts itself',
            ...(errorCode === 111 ? ['refused under a foreign instance id'] : []),
          ],
          [],
        ]);
      }
      const isOver = judged(step, { real: { errorCode: -1 }, ours }, [ERROR])[2];
      expect(isOver).to.equal(false);
      const accepted = judged(step, { real: JOINED, ours }, [ERROR]);
      expect(accepted).to.deep.equal([[], ['errorCode'], false]);
    }
    const other = { real: { errorCode: 42 }, ours: { errorCode: 130 } };
    expect(judged(joinOf('A', { topology: 'sized' }), other, [ERROR])[1]).to.deep.equal([
      'errorCode',
    ]);
  });

  it('explains a report of a task that is gone, only after a topic came back smaller, and ends', () => {
    const answers = { real: { errorCode: 42 }, ours: JOINED };
    const deleted: [Step, unknown] = [{ do: 'deleteTopics', topics: ['in1'] }, { in1: 0 }];
    const created = (in1: number): [Step, unknown] => [
      { do: 'createTopics', topics: { in1 } },
      { in1: 0 },
    ];
    const ack = { do: 'ack', as: 'A' };
    const shrunk = knowing(deleted, created(2));
    expect(judged(ack, answers, [ERROR], shrunk)).to.deep.equal([['task that is gone'], [], true]);
    const settled = {
      real: { members: { A: { errorCode: 42 } } },
      ours: { members: { A: JOINED } },
    };
    expect(judged({ do: 'settle' }, settled, [{ path: 'members.A' }], shrunk)).to.deep.equal([
      ['task that is gone'],
      [],
      true,
    ]);
    const silent = { do: 'beat', as: 'A' };
    expect(judged(silent, answers, [ERROR], shrunk)[1]).to.deep.equal(['errorCode']);
    const asWide = knowing(deleted, created(4));
    expect(judged(ack, answers, [ERROR], asWide)[1]).to.deep.equal(['errorCode']);
  });

  it('explains the endpoint epoch of a join that makes a group, and of no other, and ends', () => {
    const answers = { real: { ...JOINED, endpointInformationEpoch: 1 }, ours: JOINED };
    const difference = { path: 'endpointInformationEpoch', expected: 1, got: undefined };
    expect(judged(joinOf('A'), answers, [difference])).to.deep.equal([
      ['endpoint epoch of the join that makes a group'],
      [],
      true,
    ]);
    const later = knowing([joinOf('B'), JOINED]);
    const parts = [[], ['endpointInformationEpoch'], false];
    expect(judged(joinOf('A'), answers, [difference], later)).to.deep.equal(parts);
    const results = [{ groupId: '{group}', errorCode: 0 }];
    const again = knowing([joinOf('B'), JOINED], [{ do: 'deleteGroup' }, { results }]);
    expect(judged(joinOf('A'), answers, [difference], again)[2]).to.equal(true);
  });

  it('ends where a member that settles is refused under a foreign instance id, and compares nothing', () => {
    const answersOf = (errorCode: number) => ({
      real: { members: { A: JOINED, B: { errorCode } } },
      ours: { members: { A: { memberEpoch: 3 }, B: { errorCode } } },
    });
    const differences = [{ path: 'members.A.memberEpoch' }];
    expect(judged({ do: 'settle' }, answersOf(82), differences)).to.deep.equal([
      ['refused under a foreign instance id while a group settles'],
      [],
      true,
    ]);
    expect(judged({ do: 'settle' }, answersOf(25), differences)).to.deep.equal([
      [],
      ['members.A.memberEpoch'],
      false,
    ]);
  });

  it('ends when the only member returns to a group that is to shut down, not beside another', () => {
    const answer = { ...JOINED, status: [{ statusCode: 4 }] };
    const answers = { real: answer, ours: answer };
    const away: [Step, unknown][] = [
      [joinOf('A'), JOINED],
      [{ do: 'leave', as: 'A' }, { memberEpoch: -2 }],
    ];
    const alone = knowing(...away);
    expect(judged(joinOf('F'), answers, [], alone)).to.deep.equal([
      ['shutdown and the only static member'],
      [],
      true,
    ]);
    const beside = knowing([joinOf('B'), JOINED], ...away);
    expect(judged(joinOf('F'), answers, [], beside)).to.deep.equal([[], [], false]);
  });
});
