import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { mainFile } from '../support/headgate-process.ts';
import { projectRoot, run, whyNoOracle } from '../support/oracle.ts';

type Trace = { name: string; title: string; defect?: boolean; upstream?: boolean };
type TraceResult = {
  name: string;
  result: 'passed' | 'failed' | 'skipped';
  differences?: unknown[];
};

const recorded = join(projectRoot, 'test/recorded');
const serve = `exec ${process.execPath} ${mainFile} serve --port $PORT --admin-port off --config $SETTINGS_FILE --set protocol.profile=kafka`;
/** A coordinator on its own; the trace's settings come in a file. */
const standalone = `${serve} --data-dir $DATA_DIR`;
/** A cluster of its own and a gateway in front of it, both with the trace's settings; started again, on the same data. */
const gateway = `
  oracle=${join(projectRoot, 'test/oracle/oracle.sh')}
  cluster=$DATA_DIR/kafka port=$((PORT + 300))
  if [ -e $cluster ]; then bash $oracle restart $cluster
  else bash $oracle start $cluster $port $(tr '\\n' ' ' < $SETTINGS_FILE); fi &&
  ${serve} --data-dir $DATA_DIR/gateway --upstream 127.0.0.1:$port`;

const runs = [
  ...['coordination', 'topology', 'admin'].map((folder) => ({ folder, upstream: false })),
  ...['coordination', 'admin'].map((folder) => ({ folder, upstream: true })),
];

for (const { folder, upstream } of runs) {
  const where = upstream ? ' through a gateway' : '';
  describe(`answers recorded from Apache Kafka 4.4.0 (${folder})${where}, profile kafka`, function () {
    this.timeout(900_000);
    const wanted = readdirSync(join(recorded, folder))
      .map((file): Trace => JSON.parse(readFileSync(join(recorded, folder, file), 'utf8')))
      .filter((trace) => !trace.defect && (trace.upstream ?? false) === upstream);
    let results = new Map<string, TraceResult>();
    let output = '';

    before(async function () {
      const why = whyNoOracle();
      if (why !== undefined) {
        console.log(`      skipped: ${why}`);
        this.skip();
      }
      const file = join(mkdtempSync(join(tmpdir(), 'headgate-traces-')), 'result.json');
      const only = `^(${wanted.map((trace) => trace.name).join('|')})$`;
      const done = await run(
        process.execPath,
        [
          join(recorded, 'run.mjs'),
          'check',
          ...(upstream ? ['--upstream', '--launch', gateway] : ['--launch', standalone]),
          '--only',
          only,
          '--json',
          file,
          join(recorded, folder),
        ],
        { timeoutMs: 880_000 },
      );
      output = done.output;
      const read: { traces: TraceResult[] } = JSON.parse(readFileSync(file, 'utf8'));
      results = new Map(read.traces.map((trace) => [trace.name, trace]));
    });

    for (const trace of wanted) {
      it(`${trace.name}: ${trace.title}`, () => {
        const result = results.get(trace.name);
        expect(result, `no result: ${output.slice(-1000)}`).to.not.equal(undefined);
        expect(result?.differences ?? []).to.deep.equal([]);
        expect(result?.result).to.equal('passed');
      });
    }
  });
}
