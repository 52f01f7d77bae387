import type { Catalogue } from './catalogue.ts';
import type { CreateTopics } from './topic-creator.ts';

/**
 * The standalone way to make internal topics: in the catalogue itself, all in one step, so that a group becomes ready in
 * one step too (C-11).
 */
export function createInCatalogue(catalogue: Catalogue): CreateTopics {
  return async (topics) => {
    const outcomes = await catalogue.createTogether(
      topics.map(({ name, partitions, replicationFactor, configs }) => ({
        name,
        partitionCount: partitions,
        replicationFactor,
        configs: new Map(configs.map(({ key, value }) => [key, value])),
      })),
    );
    return outcomes.map(({ error, message }, at) => ({
      name: topics[at]?.name ?? '',
      error,
      message,
    }));
  };
}
