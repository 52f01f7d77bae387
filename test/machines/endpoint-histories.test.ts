import { expect } from 'chai';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import type { Profile } from '../../machines/model/profile.ts';
import { Stage } from '../support/stage.ts';

const HOST_A = { host: 'host-a', port: 50_000 };
const HOST_B = { host: 'host-b', port: 65_535 };
const SESSION_MS = 45_000;

/** The endpoint epoch of an answer, and its map as text: `host-a:50000 in[0]/in[1]` is active 0, standby 1. */
function told(answer: HeartbeatAnswer | undefined): readonly [number | undefined, unknown] {
  const map = answer?.partitionsByUserEndpoint ?? null;
  return [
    answer?.endpointInformationEpoch,
    map?.map(({ userEndpoint, activePartitions, standbyPartitions }) => {
      const [active, standby] = [activePartitions, standbyPartitions].map((topics) =>
        topics.map(({ topic, partitions }) => `${topic}[${partitions}]`).join(' '),
      );
      return `${userEndpoint.host}:${userEndpoint.port} ${active}/${standby}`;
    }) ?? null,
  ];
}

function staged(profile: Profile, partitions = 2): Stage {
  return new Stage({ in: partitions, profile });
}

/** What `name` is told when the last epoch it heard of is `epoch`. */
function asked(stage: Stage, name: string, epoch: number, said: 'silent' | 'told' = 'silent') {
  return told(stage.beat(name, said, { with: { endpointInformationEpoch: epoch } }));
}

const news = { endpointInformationEpoch: -1 };

describe('interactive-query endpoints', () => {
  for (const profile of ['kip', 'kafka'] as const) {
    it(`S37 The endpoint epoch moves with members that have endpoints, and the map is sent when it is news (${profile})`, () => {
      const stage = staged(profile);
      expect(told(stage.join('A', { with: news })), 'the first').to.deep.equal([0, []]);
      expect(told(stage.join('C', { with: news })), 'a second').to.deep.equal([0, []]);
      stage.leave('C');
      expect(asked(stage, 'A', 0), 'neither has an endpoint').to.deep.equal([0, null]);

      const joined = stage.join('B', { with: { ...news, userEndpoint: HOST_B } });
      expect(told(joined), 'B is in its own answer').to.deep.equal([1, ['host-b:65535 /']]);
      expect(asked(stage, 'A', 0, 'told')).to.deep.equal([1, ['host-b:65535 /']]);
      stage.settle('A', 'B');
      const whole = ['host-b:65535 in[1]/'];
      expect(asked(stage, 'B', 2), 'it was given a task').to.deep.equal([2, null]);
      expect(asked(stage, 'A', 1)).to.deep.equal([2, whole]);
      expect(asked(stage, 'A', 2)).to.deep.equal([2, null]);
      expect(asked(stage, 'A', 0), 'an older one').to.deep.equal([2, whole]);
      expect(asked(stage, 'A', 9), 'one that never was').to.deep.equal([2, whole]);

      stage.leave('B');
      expect(asked(stage, 'A', 2)).to.deep.equal(profile === 'kip' ? [3, []] : [2, null]);
    });

    it(`S38 Threads behind one endpoint are all found, and ports are unsigned (${profile})`, () => {
      const stage = staged(profile, 3);
      const onA = { ...news, userEndpoint: HOST_A };
      stage.join('A1', { processId: 'P1', with: onA });
      stage.join('A2', { processId: 'P1', with: onA });
      stage.join('B1', { processId: 'P2', with: { ...news, userEndpoint: HOST_B } });
      stage.settle('A1', 'A2', 'B1');
      const map = (name: string) => asked(stage, name, -1)[1];
      const ofB = 'host-b:65535 in[2]/';
      expect(map('B1')).to.deep.equal(
        profile === 'kip'
          ? ['host-a:50000 in[0,1]/', ofB]
          : ['host-a:50000 in[0]/', 'host-a:50000 in[1]/', ofB],
      );
      expect(map('A1')).to.deep.equal(map('B1'));
      stage.leave('A2');
      expect(map('B1'), 'A1 is there').to.deep.equal(['host-a:50000 in[0]/', ofB]);
    });

    it(`drops an endpoint whose member is not heard of any more (I-3, ${profile})`, () => {
      const stage = staged(profile);
      stage.join('A', { with: news });
      stage.join('B', { with: { userEndpoint: HOST_B } });
      stage.settle('A', 'B');
      stage.pass(SESSION_MS, 'told', 'A');
      expect(asked(stage, 'A', 2)).to.deep.equal(profile === 'kip' ? [3, []] : [2, null]);
    });

    it(`drops an endpoint whose member does not give up its tasks in time (I-3, ${profile})`, () => {
      const stage = staged(profile);
      stage.join('B', { with: { userEndpoint: HOST_B, rebalanceTimeoutMs: 10_000 } });
      const before = stage.coordinator.slot.soft.endpointEpoch;
      stage.settle('B');
      stage.join('A', { with: news });
      // B is told to give up a task, beats on, and never says that it did.
      stage.pass(11_000, 'silent', 'B', 'A');
      const [epoch, map] = asked(stage, 'A', -1, 'told');
      expect(map).to.deep.equal([]);
      const raises = profile === 'kip' ? 2 : 1;
      expect(epoch, 'B lost a task, B was removed').to.equal(before + raises);
    });

    it(`follows an endpoint that moves, stays when nothing is said, and goes with a join that names none (I-1, ${profile})`, () => {
      const stage = staged(profile);
      stage.join('A', { with: news });
      stage.join('B', { with: { userEndpoint: HOST_B } });
      stage.settle('A', 'B');
      const moved = { userEndpoint: HOST_A, endpointInformationEpoch: 2 };
      expect(told(stage.beat('B', 'silent', { with: moved }))).to.deep.equal([
        3,
        ['host-a:50000 in[1]/'],
      ]);
      expect(told(stage.beat('B', 'silent', { with: moved })), 'said again').to.deep.equal([
        3,
        ['host-a:50000 in[1]/'],
      ]);
      expect(asked(stage, 'B', 3), 'not said').to.deep.equal([3, null]);
      expect(told(stage.join('B', { with: { endpointInformationEpoch: 3 } }))).to.deep.equal([
        4,
        [],
      ]);
    });

    it(`starts again at 0 with the map for whoever comes, after a failover (I-2, ${profile})`, () => {
      const stage = staged(profile);
      stage.join('A', { with: news });
      stage.join('B', { with: { userEndpoint: HOST_B } });
      stage.settle('A', 'B');
      stage.coordinator.failOver();
      expect(asked(stage, 'A', 2)).to.deep.equal([0, ['host-b:65535 in[1]/']]);
      expect(asked(stage, 'A', 0)).to.deep.equal([0, null]);
    });

    it(`lists a static member that is away, and its successor in its place (I-6, ${profile})`, () => {
      const stage = staged(profile);
      stage.join('A', { with: news });
      const own = { instanceId: 'i', userEndpoint: HOST_B };
      stage.join('B', { processId: 'P2', with: own });
      stage.settle('A');
      stage.beat('B', 'told', { with: { instanceId: 'i' } });
      stage.settle('A');
      const { assigned } = stage.coordinator.slot.group?.members.get('B') ?? {};
      expect(assigned?.active.map(({ partitions }) => partitions)).to.deep.equal([[1]]);
      stage.leave('B', { memberEpoch: -2, instanceId: 'i' });
      expect(asked(stage, 'A', -1)[1]).to.deep.equal(['host-b:65535 in[1]/']);
      stage.join('B2', { processId: 'P2', with: { ...own, userEndpoint: HOST_A } });
      expect(asked(stage, 'A', -1)[1]).to.deep.equal(['host-a:50000 in[1]/']);
    });
  }

  it('answers 0 with the map to the join that makes the group in profile kafka, and forgets the raise (I-5)', () => {
    const withEndpoint = { ...news, userEndpoint: HOST_A };
    const first = (profile: Profile) => {
      const stage = staged(profile);
      const joined = told(stage.join('A', { with: withEndpoint }));
      return [joined, asked(stage, 'A', 0), asked(stage, 'A', 1)];
    };
    const map = ['host-a:50000 in[0,1]/'];
    expect(first('kip')).to.deep.equal([
      [1, map],
      [1, map],
      [1, null],
    ]);
    expect(first('kafka')).to.deep.equal([
      [0, map],
      [0, null],
      [0, map],
    ]);
  });

  for (const profile of ['kip', 'kafka'] as const) {
    it(`takes a member with an endpoint while sources are missing, and finds it when they come (I-9, ${profile})`, () => {
      const stage = staged(profile);
      stage.coordinator.setTopic('in', 0);
      const joined = stage.join('A', { with: { ...news, userEndpoint: HOST_A } });
      expect(joined?.error).to.equal('NONE');
      const epoch = profile === 'kip' ? 1 : 0;
      expect(told(joined)).to.deep.equal([epoch, ['host-a:50000 /']]);
      stage.coordinator.setTopic('in', 2);
      stage.settle('A');
      expect(asked(stage, 'A', epoch)).to.deep.equal([epoch + 1, ['host-a:50000 in[0,1]/']]);
    });
  }
});
