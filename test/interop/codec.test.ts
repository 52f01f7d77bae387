import { join } from 'node:path';
import { expect } from 'chai';
import { mainFile } from '../support/headgate-process.ts';
import { projectRoot, run, whyNoOracle } from '../support/oracle.ts';

describe("the codec against Kafka's own classes", function () {
  this.timeout(900_000);

  it('agrees on every vector, on made-up messages and on damaged ones', async function () {
    const why = whyNoOracle();
    if (why !== undefined) {
      console.log(`      skipped: ${why}`);
      this.skip();
    }
    const codec = `${process.execPath} ${mainFile} codec`;
    const keys = await run(process.execPath, [mainFile, 'codec', '--keys'], { timeoutMs: 20_000 });
    const vectors = join(projectRoot, 'test/vectors');
    const oracle = `bash ${join(projectRoot, 'test/oracle/oracle.sh')} bytes`;
    const made = ['--oracle', oracle, '--random', '4000', '--mutate', '2000'];
    const done = await run(
      process.execPath,
      [
        join(vectors, 'check-codec.mjs'),
        '--command',
        codec,
        '--keys',
        keys.output.trim(),
        '--skip',
        'compression=snappy,lz4,zstd',
        ...made,
      ],
      { timeoutMs: 880_000 },
    );
    const totals = /(\d+) passed, (\d+) failed(?:, \d+ skipped)?\s*$/.exec(done.output);
    expect(totals?.[2], done.output.slice(-3000)).to.equal('0');
    expect(Number(totals?.[1])).to.be.greaterThan(5000);
  });
});
