import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { formatHostPort } from '../../src/config/host-port.ts';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { projectRoot, type RealBroker, run, startKafka, whyNoOracle } from '../support/oracle.ts';
import { RestartableGateway } from '../support/restartable-gateway.ts';

/** Quick groups, as the battery needs them. */
const quickGroups = {
  'group.streams.min.heartbeat.interval.ms': 500,
  'group.streams.min.session.timeout.ms': 5000,
};

const everyCase = [
  ...[
    'stateless',
    'internal-topics',
    'scale-eos',
    'kill-takeover',
    'shapes',
    'standbys',
    'warmups',
  ],
  ...['static-members', 'missing-source', 'copartition-mismatch', 'shutdown-application'],
  ...[
    'interactive-queries',
    'interactive-copies',
    'tools-describe',
    'tools-offsets',
    'group-config',
    'mixed-groups',
  ],
  ...['admin-describe', 'client-4.3', 'client-4.2', 'mixed-clients', 'classic-streams'],
  ...['transactions', 'fifty-partitions', 'session-timeout', 'upstream', 'coordinator-restart'],
];
/** TEST_BATTERY names the cases to run, with commas between them; otherwise all are run. */
const cases = process.env['TEST_BATTERY']?.split(',') ?? everyCase;

type BatteryResult = { name: string; passed: boolean; reason?: string };

for (const version of ['4.4.0', '3.9.2']) {
  describe(`real Kafka Streams applications through a gateway in front of Apache Kafka ${version}`, function () {
    this.timeout(1_500_000);
    let kafka: RealBroker | undefined;
    let gateway: RestartableGateway | undefined;
    const folder = mkdtempSync(join(tmpdir(), 'headgate-battery-'));
    let results: BatteryResult[] = [];
    let output = '';

    before(async function () {
      const why = whyNoOracle();
      if (why !== undefined) {
        console.log(`      skipped: ${why}`);
        this.skip();
      }
      kafka = await startKafka(version, { 'group.initial.rebalance.delay.ms': 0 });
      const settings = Object.entries(quickGroups).flatMap(([key, value]) => [
        '--set',
        `${key}=${value}`,
      ]);
      gateway = new RestartableGateway(
        join(folder, 'data'),
        ...['--upstream', kafka.address, ...settings],
      );
      const address = formatHostPort(await gateway.start());
      const file = join(folder, 'result.json');
      const args = ['--bootstrap', address, '--upstream', kafka.address, '--only', cases.join(',')];
      args.push('--restart-command', await gateway.restartCommand());
      const done = await run(
        process.execPath,
        [
          join(projectRoot, 'test/oracle/battery.mjs'),
          ...args,
          '--jobs',
          '2',
          '--patience',
          '3',
          '--json',
          file,
        ],
        { timeoutMs: 1_400_000, onLine: (line) => console.log(`      ${line}`) },
      );
      output = done.output;
      results = JSON.parse(readFileSync(file, 'utf8')).results;
    });

    after(async () => {
      gateway?.close();
      await HeadgateProcess.endAll('SIGTERM');
      await kafka?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    for (const name of cases) {
      it(`${name} passes`, () => {
        const result = results.find((each) => each.name === name);
        expect(result, `no result of ${name}: ${output.slice(-2000)}`).to.not.equal(undefined);
        expect(result?.reason).to.equal(undefined);
        expect(result?.passed).to.equal(true);
      });
    }
  });
}
