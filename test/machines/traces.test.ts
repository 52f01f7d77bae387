import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { playTrace } from '../support/trace.ts';

/** Traces are read from the sources, so that TRACE_UPDATE=1 rewrites what is committed. */
const FOLDER = join(process.cwd(), 'test', 'traces');

describe('traces of decisions', () => {
  for (const name of readdirSync(FOLDER).sort()) {
    const path = join(FOLDER, name);
    const text = readFileSync(path, 'utf8');
    const [about = ''] = text.split('\n');
    it(`${name.replace('.trace', '')} ${about}`, () => {
      const played = playTrace(text);
      if (process.env['TRACE_UPDATE'] === '1') writeFileSync(path, played);
      else expect(played).to.equal(text);
    });
  }
});
