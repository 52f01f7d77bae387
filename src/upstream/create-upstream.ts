import type { CreateTopics } from '../cluster/topic-creator.ts';
import { errorCode, errorName } from '../wire/errors.ts';
import type { UpstreamPool } from './pool.ts';

/** How long the controller may take. */
const TIMEOUT_MS = 20_000;

/**
 * Creates internal topics in the cluster upstream, one request to its controller for all of them. A controller that is
 * none any more (41) is looked up again once. Afterwards `created` is told, whatever came of it.
 *
 * Source: wire.md 4.11; topology-and-admin C-5.
 */
export function createUpstream(pool: UpstreamPool, created: () => void): CreateTopics {
  return async (topics) => {
    const ask = async () => {
      const controller = await pool.controller();
      return controller.request('CreateTopics', {
        timeoutMs: TIMEOUT_MS,
        topics: topics.map(({ name, partitions, replicationFactor, configs }) => ({
          name,
          numPartitions: partitions,
          replicationFactor,
          configs: configs.map(({ key, value }) => ({ name: key, value })),
        })),
      });
    };
    try {
      let answer = await ask();
      const notController = errorCode('NOT_CONTROLLER');
      if (answer.topics.some((topic) => topic.errorCode === notController)) {
        await pool.refresh();
        answer = await ask();
      }
      return answer.topics.map(({ name, errorCode: code, errorMessage }) => {
        const error = errorName(code);
        return { name, error, message: error === 'NONE' ? null : errorMessage };
      });
    } finally {
      created();
    }
  };
}
