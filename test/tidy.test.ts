import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from './support/oracle.ts';

type Source = { readonly path: string; readonly text: string };

function sources(folder: string): Source[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(projectRoot, file), text: readFileSync(file, 'utf8') }));
}

/** What a file imports, as paths from the project's folder; packages and Node's modules by name. */
function importsOf({ path, text }: Source): { path: string; typeOnly: boolean }[] {
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from '([^']+)';/gms);
  return [...found].map(([, type, from = '']) => ({
    path: from.startsWith('.') ? join(path, '..', from) : from,
    typeOnly: type !== undefined,
  }));
}

const core = [...sources('machines'), ...sources('actors')];
const product = [...core, ...sources('workers'), ...sources('src')];

describe('the house', () => {
  it('looks at every room', () => {
    for (const room of ['machines/', 'actors/', 'workers/', 'src/server/', 'src/upstream/']) {
      expect(
        product.some(({ path }) => path.startsWith(room)),
        room,
      ).to.equal(true);
    }
  });

  it('machines/ and actors/ take time and chance from outside', () => {
    const wrong = core.filter(({ text }) =>
      /\bDate\.now\b|\bnew Date\b|\bMath\.random\b/.test(text),
    );
    expect(wrong.map(({ path }) => path)).to.deep.equal([]);
  });

  const rules: readonly [room: RegExp, mayImport: RegExp][] = [
    [/^machines\//, /^(machines\/|xstate$)/],
    [/^actors\//, /^(actors|machines)\//],
    [/^workers\//, /^(workers\/|machines\/model\/|actors\/ports\.ts$|node:|piscina$)/],
    [/^src\/wire\//, /^(src\/wire\/|machines\/(model\/|records\.ts)|node:)/],
    [/^src\/config\//, /^(src\/config\/|machines\/model\/|node:)/],
    [
      /^src\/store\//,
      /^(src\/(store|wire|config)\/|actors\/ports\.ts$|machines\/|node:|classic-level$)/,
    ],
    [
      /^src\/problem\//,
      /^(src\/(problem\/|version\.ts$)|machines\/model\/|actors\/ports\.ts$|workers\/pool\.ts$|node:)/,
    ],
    [/^src\/client\//, /^(src\/(client|wire)\/|src\/version\.ts$|node:)/],
    [/^src\/server\//, /^(src\/(server|wire|config)\/|actors\/|machines\/|node:)/],
  ];
  for (const [room, mayImport] of rules) {
    it(`${room.source} imports what it may, and nothing else`, () => {
      const wrong = product
        .filter(({ path }) => room.test(path))
        .flatMap((source) =>
          importsOf(source)
            .filter(({ path }) => !mayImport.test(path))
            .map(({ path }) => `${source.path} imports ${path}`),
        );
      expect(wrong).to.deep.equal([]);
    });
  }

  it('test/ and bench/ are imported by no one', () => {
    const wrong = product
      .filter(({ path }) => !path.startsWith('src/main.ts'))
      .flatMap((source) =>
        importsOf(source)
          .filter(({ path }) => /^(test|bench)\//.test(path))
          .map(({ path }) => `${source.path} imports ${path}`),
      );
    expect(wrong).to.deep.equal([]);
  });

  it('names no machine and no leftover', () => {
    const all = [...product, ...sources('test'), ...sources('bench')].filter(
      ({ path }) =>
        !path.endsWith('tidy.test.ts') && !/test\/(oracle|recorded|vectors)\//.test(path),
    );
    const marks = /\/work\/|\/root\/|TODO|FIXME|\bXXX\b|\.only\(/;
    expect(all.filter(({ text }) => marks.test(text)).map(({ path }) => path)).to.deep.equal([]);
  });
});
