import { expect } from 'chai';
import { ScriptedMember } from '../../src/client/member.ts';
import { kafkaTool, type RunningHeadgate, startHeadgate, whyNoOracle } from '../support/oracle.ts';

const streamsGroups = 'org.apache.kafka.tools.streams.StreamsGroupCommand';
const groups = 'org.apache.kafka.tools.GroupsCommand';
const topics = 'org.apache.kafka.tools.TopicCommand';

describe('stock tools against a standalone coordinator', function () {
  this.timeout(300_000);
  let headgate: RunningHeadgate | undefined;

  before(async function () {
    const why = whyNoOracle();
    if (why !== undefined) {
      console.log(`      skipped: ${why}`);
      this.skip();
    }
    headgate = await startHeadgate([
      '--port',
      '0',
      '--set',
      'group.streams.initial.rebalance.delay.ms=0',
    ]);
  });

  after(async () => {
    await headgate?.stop();
  });

  function tool(main: string, ...args: string[]) {
    return kafkaTool(main, ['--bootstrap-server', headgate?.address ?? '', ...args]);
  }

  it('creates, lists, describes and deletes topics with kafka-topics', async () => {
    const created = await tool(topics, '--create', '--topic', 'orders', '--partitions', '4');
    expect(created.code, created.output).to.equal(0);
    const listed = await tool(topics, '--list');
    expect(listed.output).to.match(/^orders$/m);
    const described = await tool(topics, '--describe', '--topic', 'orders');
    expect(described.output).to.match(/PartitionCount:\s*4/);
  });

  it('shows a group with kafka-streams-groups and kafka-groups', async () => {
    const [host = '', port = ''] = (headgate?.address ?? '').split(':');
    const member = await ScriptedMember.connect({
      host,
      port: Number(port),
      groupId: 'shop',
      memberId: 'm1',
      topics: ['orders'],
    });
    try {
      await member.join();
      await member.acknowledge();
      const listed = await tool(groups, '--list');
      expect(listed.output, listed.output).to.match(/^shop\s+Streams\s+streams/m);
      const state = await tool(streamsGroups, '--describe', '--group', 'shop', '--state');
      expect(state.output).to.match(/shop\s.*Stable\s+1/);
      const members = await tool(streamsGroups, '--describe', '--group', 'shop', '--members');
      expect(members.output).to.match(/shop\s+m1\s/);
      const offsets = await tool(streamsGroups, '--describe', '--group', 'shop');
      expect(offsets.code, offsets.output).to.equal(0);
      expect(offsets.output).to.match(/shop\s+orders\s+0/);
      await member.leave();
    } finally {
      member.close();
    }
    const deleted = await tool(streamsGroups, '--delete', '--group', 'shop');
    expect(deleted.code, deleted.output).to.equal(0);
    const after = await tool(groups, '--list');
    expect(after.output).to.not.match(/^shop\s/m);
  });
});
