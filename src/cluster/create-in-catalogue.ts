import type { Catalogue } from './catalogue.ts';
import type { CreateTopics } from './topic-creator.ts';

/** The standalone way to make internal topics: in the catalogue itself (C-11). */
export function createInCatalogue(catalogue: Catalogue): CreateTopics {
  return (topics) =>
    Promise.all(
      topics.map(async ({ name, partitions, replicationFactor, configs }) => {
        const { error, message } = await catalogue.create(
          {
            name,
            partitionCount: partitions,
            replicationFactor,
            configs: new Map(configs.map(({ key, value }) => [key, value])),
          },
          { validateOnly: false },
        );
        return { name, error, message };
      }),
    );
}
