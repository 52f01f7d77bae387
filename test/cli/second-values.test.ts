import { expect } from 'chai';
import type { Command, Option } from 'commander';
import { RepeatableOption } from '../../src/cli/flags.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { FakeIo } from '../support/fake-io.ts';

/** Something that each option takes: a number, an address, a task, a setting, a format. */
const VALUES = ['1', '127.0.0.1:1', '0_1', 'a=1', 'svg'];

type Place = { readonly path: readonly string[]; readonly option: Option };

/** Every option that takes a value, with the command it belongs to. */
function valued(command: Command, path: readonly string[] = []): readonly Place[] {
  const own = command.options.filter(({ required, optional }) => required || optional);
  return [
    ...own.map((option) => ({ path, option })),
    ...command.commands.flatMap((below) => valued(below, [...path, below.name()])),
  ];
}

const places = valued(buildProgram(new FakeIo()));
const nameOf = ({ path, option }: Place) => [...path, option.long ?? ''].join(' ');

/** What is said when an option is given twice with a value that it takes, and no command is carried out. */
async function errorsOf({ path, option }: Place): Promise<string> {
  for (const value of VALUES) {
    const io = new FakeIo();
    const twice = [`${option.long}=${value}`, `${option.long}=${value}`];
    // The last one is unknown: whatever came before is read, and nothing is done.
    const code = await io.run(...path, ...twice, '--no-such-option');
    expect(code).to.equal(2);
    if (!io.errors.includes('is invalid')) return io.errors;
  }
  throw new Error(`No value is one for ${option.flags}`);
}

describe('an option that takes one value', () => {
  for (const place of places.filter(({ option }) => !(option instanceof RepeatableOption))) {
    it(`${nameOf(place)} is refused a second one`, async () => {
      expect(await errorsOf(place)).to.match(
        new RegExp(`^error: option '${place.option.long} .*' is given twice\n`),
      );
    });
  }

  it('is any but those that collect', async () => {
    const collecting = places.filter(({ option }) => option instanceof RepeatableOption);
    expect(collecting.map(nameOf).sort()).to.deep.equal([
      'assign --add-member',
      'assign --assignor',
      'assign --module',
      'assign --remove-member',
      'assign --remove-process',
      'assign --tasks',
      'config --set',
      'groups config --set',
      'groups config --unset',
      'serve --set',
    ]);
    for (const place of collecting.filter(({ option }) => option.long !== '--module')) {
      expect(await errorsOf(place), nameOf(place)).to.contain("unknown option '--no-such-option'");
    }
  });
});
