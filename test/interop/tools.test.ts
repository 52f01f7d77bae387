import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrokerAddress } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { formatHostPort } from '../../src/config/host-port.ts';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { kafkaTool, whyNoOracle } from '../support/oracle.ts';

const streamsGroups = 'org.apache.kafka.tools.streams.StreamsGroupCommand';
const groups = 'org.apache.kafka.tools.GroupsCommand';
const topics = 'org.apache.kafka.tools.TopicCommand';

describe('stock tools against a standalone coordinator', function () {
  this.timeout(300_000);
  const folder = mkdtempSync(join(tmpdir(), 'headgate-data-'));
  let address: BrokerAddress = { host: '', port: 0 };

  before(async function () {
    const why = whyNoOracle();
    if (why !== undefined) {
      console.log(`      skipped: ${why}`);
      this.skip();
    }
    const noDelay = 'group.streams.initial.rebalance.delay.ms=0';
    address = await HeadgateProcess.servePlainly(folder, '--set', noDelay).ready();
  });

  after(async () => {
    await HeadgateProcess.endAll('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  function tool(main: string, ...args: string[]) {
    return kafkaTool(main, ['--bootstrap-server', formatHostPort(address), ...args]);
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
    const member = await ScriptedMember.connect({
      ...address,
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
