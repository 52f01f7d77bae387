import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { formatHostPort, type HostPort, parseHostPort } from '../../src/config/host-port.ts';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { KafkaTools, type ToolName } from '../support/kafka-tools.ts';
import { type RealBroker, startKafka, whyNoOracle } from '../support/oracle.ts';
import { ToolsWorld } from '../support/tools-world.ts';

/** A command of the script, as it would be typed without the server's address; only what matches `seen` is compared. */
type Command = readonly [tool: ToolName, line: string, seen?: RegExp | undefined];
type Phase = {
  readonly title: string;
  readonly prepare: (world: ToolsWorld) => Promise<void>;
  readonly commands: readonly Command[];
};

const streams = (line: string): Command => ['kafka-streams-groups', line];
const groups = (line: string): Command => ['kafka-groups', line];
const consumers = (line: string): Command => ['kafka-consumer-groups', line];
const configs = (line: string, seen?: RegExp): Command => ['kafka-configs', line, seen];
const ofGroup = '--entity-type groups --entity-name shop';
const ofConsumers = '--entity-type groups --entity-name readers';
const ofBroker = '--entity-type brokers --entity-name 1';
const ofBrokers = '--entity-type brokers --entity-default';

const script: readonly Phase[] = [
  {
    title: 'settings',
    prepare: (world) => world.createTopics(),
    commands: [
      configs(`--describe ${ofGroup}`),
      configs(`--alter ${ofGroup} --add-config streams.num.standby.replicas=1`),
      configs(`--describe ${ofGroup}`),
      configs(`--describe ${ofGroup} --all`),
      configs('--describe --entity-type groups'),
      configs(
        `--alter ${ofGroup} --add-config streams.session.timeout.ms=46000,streams.rack.aware.assignment.tags=[zone,rack]`,
      ),
      configs(`--describe ${ofGroup}`),
      configs(
        `--alter ${ofGroup} --delete-config streams.session.timeout.ms,streams.rack.aware.assignment.tags`,
      ),
      configs(`--describe ${ofGroup}`),
      configs(`--alter ${ofGroup} --delete-config streams.heartbeat.interval.ms`),
      configs(`--alter ${ofGroup} --add-config streams.num.standby.replicas=3`),
      configs(`--alter ${ofGroup} --add-config streams.num.standby.replicas=-1`),
      configs(`--alter ${ofGroup} --add-config streams.num.standby.replicas=many`),
      configs(`--alter ${ofGroup} --add-config streams.session.timeout.ms=1000`),
      configs(`--alter ${ofGroup} --add-config streams.assignor.name=unheard-of`),
      configs(`--alter ${ofGroup} --add-config streams.no.such.setting=1`),
      configs(`--alter ${ofBroker} --add-config group.streams.assignment.interval.ms=1`),
      configs(`--describe ${ofBroker}`),
      configs(`--alter ${ofBrokers} --add-config group.streams.assignment.interval.ms=2`),
      configs(`--describe ${ofBrokers}`),
      configs(`--describe ${ofBroker}`),
      configs(`--alter ${ofBroker} --delete-config group.streams.assignment.interval.ms`),
      configs(`--describe ${ofBroker}`),
      configs(`--alter ${ofBrokers} --delete-config group.streams.assignment.interval.ms`),
      configs(`--alter ${ofBroker} --add-config group.streams.num.standby.replicas=1`),
      configs(`--alter ${ofBroker} --add-config group.streams.assignment.interval.ms=soon`),
      configs(`--alter ${ofBroker} --add-config group.streams.assignment.interval.ms=-1`),
      configs(`--alter ${ofBroker} --add-config group.streams.assignor.offload.enable=maybe`),
      configs(`--alter ${ofBroker} --add-config group.streams.assignment.interval.ms=99999`),
      configs(`--describe ${ofBroker}`),
      configs(`--describe ${ofGroup} --all`),
      configs(`--describe ${ofBroker} --all`, /^group\.streams\./),
      configs(`--alter ${ofBroker} --add-config group.streams.assignor.offload.enable=false`),
      configs(`--describe ${ofGroup} --all`),
      configs(`--alter ${ofGroup} --add-config streams.assignor.offload.enable=true`),
      configs(`--describe ${ofGroup}`),
      configs(`--alter ${ofGroup} --delete-config streams.assignor.offload.enable`),
      configs(
        `--alter ${ofBroker} --delete-config group.streams.assignment.interval.ms,group.streams.assignor.offload.enable`,
      ),
      configs(`--describe ${ofBroker} --all`, /^group\.streams\./),
      configs('--describe --entity-type brokers'),
      configs('--describe --entity-type brokers --entity-name 7'),
      configs(`--alter ${ofConsumers} --add-config consumer.session.timeout.ms=50000`),
      configs(`--alter ${ofConsumers} --add-config consumer.session.timeout.ms=5`),
      configs(`--describe ${ofConsumers}`),
      configs('--describe --entity-type groups'),
      configs(`--alter ${ofConsumers} --delete-config consumer.session.timeout.ms`),
      configs(`--describe ${ofConsumers}`),
    ],
  },
  {
    title: 'running groups',
    prepare: (world) => world.start(),
    commands: [
      streams('--list'),
      streams('--list --state'),
      streams('--list --state Stable'),
      streams('--list --state stable,notready'),
      streams('--list --state empty'),
      streams('--list --state sleepy'),
      groups('--list'),
      groups('--list --streams'),
      groups('--list --consumer'),
      groups('--list --group-type classic'),
      groups('--list --protocol streams'),
      consumers('--list'),
      consumers('--list --state'),
      consumers('--list --type'),
      consumers('--describe --group shop'),
      consumers('--describe --group shop --state'),
      consumers('--describe --group nobody'),
      consumers('--describe --group offline'),
      consumers('--describe --group offline --state'),
      consumers('--delete --group shop'),
      consumers('--reset-offsets --group shop --topic orders --to-earliest --dry-run'),
      streams('--describe --group shop'),
      streams('--describe --group shop --verbose'),
      streams('--describe --group shop --offsets --verbose'),
      streams('--describe --group shop --members'),
      streams('--describe --group shop --members --verbose'),
      streams('--describe --group shop --state'),
      streams('--describe --group shop --state --verbose'),
      streams('--describe --group shop --topology'),
      streams('--describe --group waiting'),
      streams('--describe --group waiting --members --verbose'),
      streams('--describe --group waiting --state'),
      streams('--describe --all-groups --state'),
      streams('--describe --all-groups --members'),
      streams('--describe --group nobody'),
      streams('--describe --group offline'),
      streams('--delete --group shop'),
      streams('--delete --group shop --group nobody'),
      streams('--delete-offsets --group shop --input-topic orders'),
      streams('--reset-offsets --group shop --all-input-topics --to-earliest --dry-run'),
      streams('--reset-offsets --group shop --input-topic orders --to-earliest --execute'),
    ],
  },
  {
    title: 'empty groups',
    prepare: (world) => world.stop(),
    commands: [
      streams('--list --state Empty'),
      streams('--describe --group shop'),
      streams('--describe --group shop --members'),
      streams('--describe --group shop --state --verbose'),
      streams('--reset-offsets --group shop --all-input-topics --to-earliest --dry-run'),
      streams('--reset-offsets --group shop --input-topic orders:0 --to-offset 3 --execute'),
      streams('--reset-offsets --group shop --input-topic orders --to-offset 99 --dry-run'),
      streams('--reset-offsets --group shop --input-topic orders --to-current --dry-run'),
      streams('--reset-offsets --group shop --input-topic orders --shift-by -1 --execute'),
      streams('--reset-offsets --group shop --all-input-topics --to-latest --execute --export'),
      streams('--reset-offsets --group shop --input-topic refunds --to-earliest --dry-run'),
      streams('--reset-offsets --group shop --input-topic nowhere --to-earliest --dry-run'),
      streams('--reset-offsets --group shop --input-topic orders --to-earliest'),
      streams('--reset-offsets --group nobody --all-input-topics --to-earliest --dry-run'),
      streams(
        '--reset-offsets --group shop --all-input-topics --to-earliest --execute --delete-internal-topic shop-counts-changelog',
      ),
      streams(
        '--reset-offsets --group shop --all-input-topics --to-earliest --execute --delete-internal-topic orders',
      ),
      streams('--delete-offsets --group shop --input-topic orders:1'),
      streams('--delete-offsets --group shop --input-topic nowhere'),
      streams('--delete-offsets --group shop --all-input-topics'),
      streams('--delete-offsets --group nobody --input-topic orders'),
      streams('--delete --group offline'),
      streams('--delete --group nobody'),
      streams('--delete --group shop --delete-all-internal-topics'),
      streams('--delete --group shop'),
      streams('--delete --all-groups'),
      consumers('--delete --group offline'),
      groups('--list'),
      configs(`--describe ${ofGroup}`),
      configs(`--alter ${ofGroup} --delete-config streams.num.standby.replicas`),
      configs(`--describe ${ofGroup}`),
    ],
  },
];

/**
 * What differs by design: addresses, the texts that servers give with an error (and Java's stack traces), the order of
 * rows that no server promises, and with them the widths of columns. A cluster of Kafka's sets `min.insync.replicas` by
 * itself when it is formatted.
 */
function normalised(output: string): readonly string[] {
  return output
    .replaceAll(/127\.0\.0\.1:\d+/g, '<address>')
    .split('\n')
    .filter((line) => !/^\s+(at |\.\.\. \d+ more|min\.insync\.replicas=)/.test(line))
    .map((line) =>
      line
        .replace(/(org\.apache\.kafka\.\S+Exception): .*$/, '$1: <text>')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .sort();
}

type Printed = { readonly code: number | null; readonly lines: readonly string[] };

describe('stock tools print the same as with Apache Kafka 4.4.0 (profile kafka)', function () {
  this.timeout(300_000);
  const folder = mkdtempSync(join(tmpdir(), 'headgate-data-'));
  let tools: KafkaTools | undefined;
  let kafka: RealBroker | undefined;
  const printed: Record<'kafka' | 'standalone' | 'gateway', Printed[]> = {
    kafka: [],
    standalone: [],
    gateway: [],
  };
  const topicsLeft: Record<string, unknown> = {};

  before(async function () {
    const why = whyNoOracle();
    if (why !== undefined) {
      console.log(`      skipped: ${why}`);
      this.skip();
    }
    tools = new KafkaTools();
    kafka = await startKafka('4.4.0', quick);
    await play('kafka', parseHostPort(kafka.address) as HostPort);
    const flags = Object.entries({ ...quick, 'protocol.profile': 'kafka' });
    const set = flags.flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const serve = (name: string, ...more: readonly string[]) =>
      HeadgateProcess.servePlainly(join(folder, name), ...set, ...more).ready();
    await play('standalone', await serve('standalone'));
    await play('gateway', await serve('gateway', '--upstream', kafka.address));
  });

  after(async () => {
    tools?.close();
    await HeadgateProcess.endAll('SIGTERM');
    await kafka?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function play(target: keyof typeof printed, address: HostPort): Promise<void> {
    const world = await ToolsWorld.open(address, target !== 'standalone');
    const text = formatHostPort(address);
    try {
      for (const { prepare, commands } of script) {
        await prepare(world);
        for (const [tool, line, seen = /^/] of commands) {
          const args = ['--bootstrap-server', text, ...line.split(' ')];
          const { code, output } = (await tools?.run(tool, args)) ?? { code: null, output: '' };
          if (process.env['TEST_SHOW'] !== undefined) console.log(target, tool, line, output);
          const lines = normalised(output).filter((each) => seen.test(each));
          printed[target].push({ code, lines });
          if (target === 'kafka' && isOfBrokers(line)) await sleep(SHOWN_AFTER_MS);
        }
      }
      topicsLeft[target] = await world.topics();
      await world.deleteTopics();
    } finally {
      world.close();
    }
  }

  for (const target of ['standalone', 'gateway'] as const) {
    let at = 0;
    for (const { title, commands } of script) {
      describe(`${target}: ${title}`, () => {
        for (const [tool, line] of commands) {
          const index = at++;
          it(`${tool} ${line}`, () => {
            expect(printed[target][index]).to.deep.equal(printed.kafka[index]);
          });
        }
      });
    }
    it(`${target}: the same topics are left`, () => {
      expect(topicsLeft[target]).to.deep.equal(topicsLeft['kafka']);
    });
  }
});

/** A broker of Kafka's takes a moment to show everywhere what it was told of its own settings. */
const SHOWN_AFTER_MS = 1_000;

function isOfBrokers(line: string): boolean {
  return line.startsWith('--alter') && line.includes('--entity-type brokers');
}

/** Groups settle at once. */
const quick = {
  'group.streams.initial.rebalance.delay.ms': '0',
  'group.streams.assignment.interval.ms': '0',
  'group.streams.num.warmup.replicas': '3',
};
