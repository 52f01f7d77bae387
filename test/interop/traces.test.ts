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
/** What a standalone coordinator starts with; the trace's own settings come in a file. */
const launch = `exec ${process.execPath} ${mainFile} serve --port $PORT --data-dir $DATA_DIR --admin-port off --config $SETTINGS_FILE --set protocol.profile=kafka`;

for (const folder of ['coordination', 'topology', 'admin']) {
  describe(`answers recorded from Apache Kafka 4.4.0 (${folder}), profile kafka`, function () {
    this.timeout(900_000);
    const wanted = readdirSync(join(recorded, folder))
      .map((file): Trace => JSON.parse(readFileSync(join(recorded, folder, file), 'utf8')))
      .filter((trace) => !trace.defect && !trace.upstream);
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
          '--launch',
          launch,
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
