import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectRoot } from '../support/oracle.ts';

/** A rule, an example or a scenario of the specification, by the id that tests cite. */
export type Rule = { readonly id: string; readonly title: string };

/** What is listed in this folder, one `ID Title` a line. */
export const LISTS = ['coordination', 'topology-and-admin', 'scenarios'] as const;
export type ListName = (typeof LISTS)[number];

/** Where a test says what it is about: a title, the comments of a trace, the `rules` of a recorded trace. */
type Saying = { readonly place: string; readonly text: string };

const RULES_FOLDER = join(projectRoot, 'test', 'rules');

/** The rules of one list, in the order of the specification. */
export function readRules(list: ListName): readonly Rule[] {
  return readFileSync(join(RULES_FOLDER, `${list}.txt`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [, id = '', title = ''] = /^(\S+) (.+)$/.exec(line) ?? [];
      return { id, title };
    });
}

/** Why no test cites a rule, by the rule's id. */
export function readExplanations(): ReadonlyMap<string, string> {
  const text = readFileSync(join(RULES_FOLDER, 'uncited.json'), 'utf8');
  return new Map(Object.entries(JSON.parse(text) as Record<string, string>));
}

/**
 * Where each id is cited in the tests as they are written now. A scenario wants a test of its own: a title that names
 * it, or a trace that begins with it.
 */
export function readCitations(): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  const cite = (id: string, place: string) => places.set(id, [...(places.get(id) ?? []), place]);
  for (const { place, text } of titles()) {
    for (const id of idsIn(text, numbersMeanTopology(place))) cite(id, place);
  }
  for (const { place, text } of [...traceComments(), ...recordedRules()]) {
    const [ownScenario] = /^# (S\d\d) /.exec(text)?.slice(1) ?? [];
    for (const id of idsIn(text)) if (!/^S\d/.test(id) || id === ownScenario) cite(id, place);
  }
  return places;
}

/**
 * The ids that a text names, each once. `REQ-6 to REQ-8`, `REQ-6..8` and `6.3 to 6.5` name what lies between as well;
 * `WU-9.2` and `RSP-6c` name their rule. E1 and E-1 are two ids: an example and a rule.
 *
 * @param withSections whether a bare `6.4` is a section of topology-and-admin; another file's name before it never is.
 */
export function idsIn(text: string, withSections = true): ReadonlySet<string> {
  const own = text.replaceAll(
    /\b(?:wire|records|assignors)(?:-and-configs)?(?:\.md)? \d[\d.]*(?:(?:, | to | and )\d[\d.]*)*/g,
    ' ',
  );
  const found = new Set<string>();
  for (const [id] of spellRanges(own).matchAll(ID)) {
    if (withSections || !/^\d/.test(id)) found.add(id);
  }
  return found;
}

const ID = /(?<![\w.-])(?:[A-Z]+-(?:C?\d+|[A-Z]\b)|[A-Z]\d+|\d+\.\d+)/g;
const RANGE = /(?<![\w.-])([A-Z]+-C?|[A-Z]|\d+\.)(\d+)(?: to |\.\.)(?:\1)?(\d+)/g;

/** `REQ-6 to REQ-8` as `REQ-6 REQ-7 REQ-8`; numbers keep their leading zeros. */
function spellRanges(text: string): string {
  return text.replaceAll(RANGE, (_, prefix: string, from: string, to: string) => {
    const count = Math.max(0, Number(to) - Number(from) + 1);
    const numbers = Array.from({ length: count }, (_each, at) => String(Number(from) + at));
    return numbers.map((number) => prefix + number.padStart(from.length, '0')).join(' ');
  });
}

/** In other rooms a bare section number is one of the wire's or of the records' specification. */
function numbersMeanTopology(place: string): boolean {
  return /^test\/(machines|actors|scenarios|server|traces|recorded)\//.test(place);
}

/** Titles given to `it` and `describe`, and those in tables, which begin with their rule: `'OUT-4 nothing to do'`. */
function titles(): readonly Saying[] {
  const given = /\b(?:it|describe)\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
  const inTables = /(['"`])((?:[A-Z]+-(?:C?\d+|[A-Z]) )(?:\\.|(?!\1).)+)\1/g;
  return filesBelow('test', '.test.ts').flatMap(({ place, text }) =>
    [...text.matchAll(given), ...text.matchAll(inTables)].map(([, , title = '']) => ({
      place,
      text: title,
    })),
  );
}

/** Recorded traces that show a defect and that no test names, in a title's beginning or in a table of titles. */
export function readUntoldDefects(): readonly string[] {
  const tests = filesBelow('test', '.test.ts').map(({ text }) => text);
  return recordedTraces()
    .filter(({ defect }) => defect !== undefined)
    .map(({ name }) => name)
    .filter((name) => {
      const told = new RegExp(`(['"\`])${name}(?:: |\\1)`);
      return !tests.some((text) => told.test(text));
    });
}

function traceComments(): readonly Saying[] {
  return filesBelow('test/traces', '.trace').map(({ place, text }) => ({
    place,
    text: text
      .split('\n')
      .filter((line) => line.startsWith('#'))
      .join('\n'),
  }));
}

/** Traces that show a defect are not played. */
function recordedRules(): readonly Saying[] {
  return recordedTraces().flatMap(({ place, rules = [], defect }) =>
    defect === undefined ? [{ place, text: rules.join(', ') }] : [],
  );
}

type Recorded = {
  readonly place: string;
  readonly name: string;
  readonly rules?: readonly string[];
  readonly defect?: string;
};

function recordedTraces(): readonly Recorded[] {
  return filesBelow('test/recorded', '.json').map(({ place, text }) => ({
    ...(JSON.parse(text) as Omit<Recorded, 'place'>),
    place,
  }));
}

function filesBelow(folder: string, ending: string): readonly Saying[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ place: relative(projectRoot, path), text: readFileSync(path, 'utf8') }));
}
