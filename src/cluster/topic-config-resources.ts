import type {
  ChangeOptions,
  ConfigEntry,
  ConfigResources,
  ConfigSynonym,
  Outcome,
} from '../server/ports.ts';
import type { Catalogue, Topic } from './catalogue.ts';
import { type TopicConfig, topicConfigs } from './topic-configs.ts';

const none: ReadonlyMap<string, string> = new Map();

/** The settings of the catalogue's topics, as clients look at them and change them. */
export class TopicConfigResources implements ConfigResources {
  readonly #catalogue: Catalogue;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  describe(name: string): readonly ConfigEntry[] | undefined {
    const topic = this.#catalogue.byName(name);
    return topic && [...topicConfigs].map(([config, row]) => entryOf(topic, config, row));
  }

  overrides(name: string): ReadonlyMap<string, string> {
    return this.#catalogue.byName(name)?.configs ?? none;
  }

  async alter(
    name: string,
    changes: ReadonlyMap<string, string | null>,
    options: ChangeOptions,
  ): Promise<Outcome> {
    const { error, message } = await this.#catalogue.alterConfigs(name, changes, options);
    return { error, message };
  }

  overridden(): readonly string[] {
    return this.#catalogue
      .list()
      .filter(({ configs }) => configs.size > 0)
      .map(({ name }) => name);
  }
}

function entryOf(topic: Topic, name: string, { type, fallback }: TopicConfig): ConfigEntry {
  const own = topic.configs.get(name);
  const byDefault: ConfigSynonym = { name, value: fallback, source: 'DEFAULT_CONFIG' };
  const synonyms: readonly ConfigSynonym[] =
    own === undefined ? [byDefault] : [{ name, value: own, source: 'TOPIC_CONFIG' }, byDefault];
  return {
    name,
    value: own ?? fallback,
    source: own === undefined ? 'DEFAULT_CONFIG' : 'TOPIC_CONFIG',
    type,
    readOnly: false,
    sensitive: false,
    synonyms,
    documentation: null,
  };
}
