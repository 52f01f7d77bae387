import type { ConfiguredTopology } from '../../machines/model/topology.ts';

/** What was decided, in few words: the problem, tasks by subtopology, partitions by topic that is to be created. */
export function sizesOf({ problem, subtopologies, missingInternalTopics }: ConfiguredTopology) {
  return {
    problem: problem?.status,
    tasks: Object.fromEntries(subtopologies.map((one) => [one.subtopologyId, one.taskCount])),
    missing: Object.fromEntries(missingInternalTopics.map((one) => [one.name, one.partitions])),
  };
}
