import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RecordedTrace } from '../support/recorded-trace.ts';
import { playRecorded, reasonToSkip } from '../support/recorded-trace.ts';

const FOLDER = join(process.cwd(), 'test', 'recorded');

/** Answers recorded from a real coordinator, played on decisions alone: no wire, no disk, no waiting. */
for (const part of ['coordination', 'topology']) {
  describe(`recorded answers, ${part} (profile kafka)`, () => {
    for (const file of readdirSync(join(FOLDER, part)).sort()) {
      const trace = JSON.parse(readFileSync(join(FOLDER, part, file), 'utf8')) as RecordedTrace;
      if (reasonToSkip(trace) !== undefined) continue;
      it(`${trace.name}: ${trace.title}`, async () => {
        expect(await playRecorded(trace)).to.deep.equal([]);
      });
    }
  });
}
