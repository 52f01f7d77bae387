import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { streamsGroupConfigs } from '../../machines/model/streams-group-configs.ts';
import { settingNames } from '../../src/config/definitions.ts';
import { settingsMarkdown } from '../../src/config/settings-docs.ts';

describe('settingsMarkdown()', () => {
  it('is what docs/settings.md holds', () => {
    const written = readFileSync('docs/settings.md', 'utf8');
    expect(written, 'run: headgate config --markdown > docs/settings.md').to.equal(
      settingsMarkdown(),
    );
  });

  it('marks what has no effect, and what is not built yet', () => {
    const marked = (mark: string) =>
      settingsMarkdown()
        .split('\n')
        .flatMap((line) => (line.endsWith(`*${mark}* |`) ? [line.split('`')[1]] : []));
    expect(marked('no effect')).to.include('group.coordinator.threads');
    expect(marked('not yet')).to.deep.equal([]);
  });

  it('has a line for every setting of a group', () => {
    const lines = settingsMarkdown().split('\n');
    for (const { name } of streamsGroupConfigs) {
      const line = lines.find((each) => each.startsWith(`| \`${name}\` |`));
      // What is allowed is never nothing.
      expect(line, name).to.match(/ \| \w[^|]+ \|$/);
    }
  });

  it('has a line for every setting', () => {
    const lines = settingsMarkdown().split('\n');
    for (const name of settingNames) {
      expect(
        lines.filter((line) => line.startsWith(`| \`${name}\` |`)),
        name,
      ).to.have.length(1);
    }
  });
});
