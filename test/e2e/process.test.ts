import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { AdminClient } from '../../src/client/admin.ts';
import { type BrokerAddress, ClientConnection } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { besidesRe2 } from '../support/re2.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';
import { decodeAnswer, WireClient } from '../support/wire-client.ts';

const READY = /^Headgate ready on 127\.0\.0\.1:\d+$/;

async function createTopic(address: BrokerAddress): Promise<void> {
  const connection = await ClientConnection.open(address, { clientId: 'test' });
  await connection.request('CreateTopics', {
    topics: [{ name: 'in', numPartitions: 4, replicationFactor: 1 }],
    timeoutMs: 5_000,
  });
  connection.close();
}

/** A member that joined and said what it owns. */
const ASSIGNMENT_DELAYED = 5;

async function settledMember(address: BrokerAddress, groupId: string): Promise<ScriptedMember> {
  const member = await ScriptedMember.connect({ ...address, groupId, topics: ['in'] });
  let answer = await member.join();
  // On a busy machine the first answer may go out before its run is over; a client asks again, and so does this one.
  const isDelayed = () => answer.status?.some((each) => each.statusCode === ASSIGNMENT_DELAYED);
  for (let beats = 0; isDelayed() && beats < 100; beats++) {
    await new Promise((resolve) => setTimeout(resolve, answer.heartbeatIntervalMs));
    answer = await member.beat();
  }
  await member.acknowledge();
  return member;
}

/** What was said on standard error to people, which is not a line of the log. */
function saidPlainly({ err }: HeadgateProcess): readonly string[] {
  return err.filter((line) => !line.startsWith('{'));
}

describe('headgate serve, a process of its own', () => {
  afterEach(() => HeadgateProcess.endAll());

  it('says one line on standard output; SIGTERM ends it with 0; groups are there again at the next start', () =>
    inTemporaryFolder(async (folder) => {
      const first = HeadgateProcess.serve(folder);
      const address = await first.ready();
      await createTopic(address);
      const member = await settledMember(address, 'orders');
      const { memberId, memberEpoch } = member;
      expect(member.owned.activeTasks).to.deep.equal([
        { subtopologyId: '0', partitions: [0, 1, 2, 3] },
      ]);
      const before = await described(address, 'orders');
      expect(await first.end('SIGTERM')).to.equal(0);
      expect(first.out).to.have.length(1);
      expect(first.out[0]).to.match(READY);
      expect(saidPlainly(first)).to.deep.equal([]);

      const second = HeadgateProcess.serve(folder);
      const again = await second.ready();
      expect(await described(again, 'orders')).to.deep.equal(before);
      expect([before.groupState, before.members.map((each) => each.memberEpoch)]).to.deep.equal([
        'Stable',
        [memberEpoch],
      ]);
      const beat = await ClientConnection.open(again, { clientId: 'scripted' });
      const answer = await beat.request('StreamsGroupHeartbeat', {
        groupId: 'orders',
        memberId,
        memberEpoch,
      });
      expect([answer.errorCode, answer.memberEpoch]).to.deep.equal([0, memberEpoch]);
      for (const each of [member, beat]) each.close();
      expect(await second.end('SIGTERM')).to.equal(0);
    }));

  it('answers what it took before SIGTERM, and ends (graceful stop)', () =>
    inTemporaryFolder(async (folder) => {
      const headgate = HeadgateProcess.serve(folder);
      const address = await headgate.ready();
      await createTopic(address);
      const client = await WireClient.connect(address.port);
      const memberIds = Array.from({ length: 30 }, (_, at) => `m${at}`);
      const joins = memberIds.map((memberId) =>
        client.request('StreamsGroupHeartbeat', 1, join(memberId)),
      );
      client.write(Buffer.concat(joins));
      const [answer] = await client.take(1);
      const ended = headgate.end('SIGTERM');
      const answers = [answer, ...(await client.take(29))].map(
        (frame) => frame && decodeAnswer('StreamsGroupHeartbeat', 1, frame),
      );
      expect(answers.map((each) => [each?.errorCode, each?.memberId])).to.deep.equal(
        memberIds.map((memberId) => [0, memberId]),
      );
      await client.closed;
      expect(await ended).to.equal(0);

      const again = HeadgateProcess.serve(folder);
      const { members } = await described(await again.ready(), 'g');
      expect(members.map(({ memberId }) => memberId)).to.deep.equal([...memberIds].sort());
    }));

  it('a folder in use and a port in use are refused, each in one clear line, with exit code 1', () =>
    inTemporaryFolder((folder) =>
      inTemporaryFolder(async (otherFolder) => {
        const first = HeadgateProcess.serve(folder);
        const { port } = await first.ready();
        const [sameFolder, samePort] = [
          HeadgateProcess.serve(folder),
          HeadgateProcess.serve(otherFolder, '--port', String(port)),
        ];
        expect(await Promise.all([sameFolder.ended, samePort.ended])).to.deep.equal([1, 1]);
        expect([sameFolder.out, samePort.out]).to.deep.equal([[], []]);
        expect([sameFolder.err, samePort.err].map(besidesRe2)).to.deep.equal([
          [`Open the store in ${folder}: it is in use by another process (--data-dir)`],
          [`Cannot listen on 127.0.0.1:${port}: the port is in use (--port)`],
        ]);
        const member = await settledMember({ host: '127.0.0.1', port }, 'g');
        expect((await member.beat()).errorCode).to.equal(0);
        member.close();
      }),
    ));

  it('SIGTERM while upstream is silent ends it with 0, without a ready line', () =>
    inTemporaryFolder(async (folder) => {
      const asked = { resolve: () => {} };
      const heard = new Promise<void>((resolve) => {
        asked.resolve = resolve;
      });
      const silent = createServer((socket) =>
        socket.on('error', () => {}).on('data', asked.resolve),
      );
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as AddressInfo;
      const headgate = HeadgateProcess.serve(folder, '--upstream', `127.0.0.1:${port}`);
      await heard;
      expect(await headgate.end('SIGTERM')).to.equal(0);
      expect(headgate.out).to.deep.equal([]);
      expect(saidPlainly(headgate)).to.deep.equal([]);
      silent.close();
    }));

  it('wrong settings: all faults at once, with exit code 2, and nothing is opened', () =>
    inTemporaryFolder(async (folder) => {
      const headgate = HeadgateProcess.serve(
        folder,
        ...['--set', 'mailbox.max=none', '--set', 'no.such.setting=1', '--port', '70000'],
      );
      expect(await headgate.ended).to.equal(2);
      expect(headgate.out).to.deep.equal([]);
      const [title, ...faults] = headgate.err;
      expect(title).to.contain('3 faults');
      for (const seen of ['mailbox.max = "none"', 'no.such.setting = "1"', 'port = "70000"']) {
        expect(faults.filter((fault) => fault.includes(seen))).to.have.length(1);
      }
    }));
});

describe('headgate serve and its clients', () => {
  let folder: string;
  let headgate: HeadgateProcess;
  let address: BrokerAddress;
  let done: () => void;
  let gone: Promise<void>;

  before(async () => {
    await new Promise<void>((resolve) => {
      gone = inTemporaryFolder(async (made) => {
        folder = made;
        resolve();
        await new Promise<void>((end) => {
          done = end;
        });
      });
    });
    headgate = HeadgateProcess.serve(folder, '--admin-port', '0');
    address = await headgate.ready();
    await createTopic(address);
  });
  after(async () => {
    await HeadgateProcess.endAll();
    done();
    await gone;
  });

  it('a hostile client is cut off with a line in the log, the others go on', async () => {
    const member = await settledMember(address, 'calm');
    const oversized = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
    const garbage = Buffer.from('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    const unknownApi = Buffer.from([0, 0, 0, 10, 0x27, 0x0f, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);
    const cutShort = Buffer.from([0, 0, 0, 3, 0, 88, 0]);
    for (const bytes of [oversized, garbage, unknownApi, cutShort]) {
      const linesBefore = headgate.err.length;
      const hostile = await WireClient.connect(address.port);
      hostile.write(bytes);
      await hostile.closed;
      expect(hostile.frames).to.deep.equal([]);
      await headgate.line(headgate.err, /Connection closed: bad/, linesBefore);
      expect((await member.beat()).errorCode).to.equal(0);
    }
    // It went away in the middle of a frame.
    const leaver = await WireClient.connect(address.port);
    leaver.write(Buffer.from([0, 0, 1, 0, 0, 88]));
    await leaver.flushed();
    leaver.destroy();
    expect((await member.beat()).errorCode).to.equal(0);
    member.close();
  });

  it('thirty pipelined requests of several kinds are answered in their order', async () => {
    const client = await WireClient.connect(address.port);
    const member = await settledMember(address, 'piped');
    const { memberId, memberEpoch } = member;
    const requests = Array.from({ length: 30 }, (_, at) =>
      at % 3 === 0
        ? client.request('Metadata', 12, { topics: null })
        : at % 3 === 1
          ? client.request('StreamsGroupHeartbeat', 1, { groupId: 'piped', memberId, memberEpoch })
          : client.request('ApiVersions', 3, {
              clientSoftwareName: 'c',
              clientSoftwareVersion: '1',
            }),
    );
    client.write(Buffer.concat(requests));
    const frames = await client.take(30);
    expect(frames.map((frame) => frame.readInt32BE(0))).to.deep.equal(requests.map((_, at) => at));
    client.destroy();
    member.close();
  });

  it('tells over HTTP how it is, what it counts, how a group stands and why', async () => {
    const member = await settledMember(address, 'seen');
    const ready = JSON.parse(await headgate.line(headgate.err, /"msg":"Ready"/));
    const get = async (path: string) => {
      const answer = await fetch(`http://${ready.admin}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    expect((await get('/health/ready')).status).to.equal(200);
    // The journal tells a target when its reasons are there, which nobody waits for.
    let because: string[] = [];
    while (!because.some((line) => line.startsWith('Target of epoch '))) {
      const { entries } = JSON.parse((await get('/groups/seen/journal')).text);
      because = entries.flatMap((entry: { because: string[] }) => entry.because);
    }
    expect(because).to.include(`${member.memberId} gets 0_0, 0_1, 0_2, 0_3`);
    const metrics = await get('/metrics');
    expect(metrics.text).to.match(/\{[^}]*[Ss]table[^}]*\} [1-9]/);
    for (const name of ['background_queue_time_seconds', 'streams_group_active_task_spread']) {
      expect(metrics.text).to.match(new RegExp(`^${name}_count [1-9]`, 'm'));
    }
    const state = JSON.parse((await get('/groups/seen/state')).text);
    expect([state.groupId, state.state]).to.deep.equal(['seen', 'Stable']);
    expect((await get('/groups/nowhere/state')).status).to.equal(404);
    member.close();
  });
});

function join(memberId: string) {
  return {
    groupId: 'g',
    memberId,
    memberEpoch: 0,
    rebalanceTimeoutMs: 60_000,
    topology: { epoch: 0, subtopologies: [{ subtopologyId: '0', sourceTopics: ['in'] }] },
    activeTasks: [],
    standbyTasks: [],
    warmupTasks: [],
    processId: memberId,
    clientTags: [],
  };
}

async function described(address: BrokerAddress, groupId: string) {
  const admin = await AdminClient.connect([address], { clientId: 'test' });
  try {
    return (await admin.describe(groupId)).group;
  } finally {
    admin.close();
  }
}
