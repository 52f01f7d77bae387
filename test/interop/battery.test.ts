import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { formatHostPort } from '../../src/config/host-port.ts';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { projectRoot, type RealBroker, run, startKafka, whyNoOracle } from '../support/oracle.ts';

/** Quick groups, as the battery needs them. */
const quickGroups = {
  'group.streams.min.heartbeat.interval.ms': 500,
  'group.streams.min.session.timeout.ms': 5000,
};

const everyCase = [
  'stateless',
  'internal-topics',
  'scale-eos',
  'kill-takeover',
  'standbys',
  'session-timeout',
  'tools-describe',
  'transactions',
  'classic-streams',
  'upstream',
];
/** What is run each time; TEST_BATTERY=all runs every case. */
const someCases = [
  'stateless',
  'internal-topics',
  'scale-eos',
  'kill-takeover',
  'tools-describe',
  'transactions',
  'classic-streams',
  'upstream',
];
const cases = process.env['TEST_BATTERY'] === 'all' ? everyCase : someCases;

type BatteryResult = { name: string; passed: boolean; reason?: string };

for (const version of ['4.4.0', '3.9.2']) {
  describe(`real Kafka Streams applications through a gateway in front of Apache Kafka ${version}`, function () {
    this.timeout(1_500_000);
    let kafka: RealBroker | undefined;
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
      const headgate = HeadgateProcess.servePlainly(
        join(folder, 'data'),
        ...['--upstream', kafka.address, ...settings],
      );
      const address = formatHostPort(await headgate.ready());
      const file = join(folder, 'result.json');
      const args = ['--bootstrap', address, '--upstream', kafka.address, '--only', cases.join(',')];
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
