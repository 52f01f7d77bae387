import type { Client, HeartbeatRequest } from '../../machines/commands.ts';
import type { Endpoint } from '../../machines/model/member.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import type { KeyValue, Subtopology, Topology } from '../../machines/model/topology.ts';
import { GROUP_ID } from './lone-coordinator.ts';
import { readTasks } from './task-notation.ts';
import { copartition, info, subtopology } from './topology-samples.ts';

/** The words of a command: those without `=` in order, the others by name, and all of them as they were written. */
export type Words = {
  readonly all: readonly string[];
  readonly plain: readonly string[];
  readonly named: ReadonlyMap<string, string>;
};

export function readWords(line: string): Words {
  const all = line.split(/\s+/);
  return {
    all,
    plain: all.filter((word) => !word.includes('=')),
    named: new Map(
      all
        .filter((word) => word.includes('='))
        .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
    ),
  };
}

/**
 * The heartbeat that a line speaks of. What is not named is what a client sends that has nothing to say: `-` and null
 * are the same. A join (`epoch=0`) brings its rebalance timeout and the process `pNAME`.
 *
 * Words: `epoch own topology timeout process instance rack endpoint tags offsets ends iq shutdown member group`.
 */
export function readHeartbeat(
  name: string,
  named: Words['named'],
  known: { readonly topologies: ReadonlyMap<number, Topology>; readonly endpointEpoch: number },
): HeartbeatRequest {
  const given = (word: string): string | null => {
    const value = named.get(word);
    return value === undefined || value === '-' ? null : value;
  };
  const memberEpoch = Number(named.get('epoch'));
  const isJoin = memberEpoch === 0;
  const [active, standby, warmup] = readOwned(named.get('own') ?? '-');
  const topologyEpoch = given('topology');
  const processId = named.has('process') ? given('process') : isJoin ? `p${name}` : null;
  return {
    groupId: named.get('group') ?? GROUP_ID,
    memberId: named.get('member') ?? name,
    memberEpoch,
    endpointInformationEpoch: Number(named.get('iq') ?? known.endpointEpoch),
    instanceId: given('instance'),
    rackId: given('rack'),
    rebalanceTimeoutMs: Number(named.get('timeout') ?? (isJoin ? '60000' : '-1')),
    topology: topologyEpoch === null ? null : (known.topologies.get(Number(topologyEpoch)) ?? null),
    activeTasks: active,
    standbyTasks: standby,
    warmupTasks: warmup,
    processId,
    userEndpoint: readEndpoint(given('endpoint')),
    clientTags: readTags(given('tags')),
    taskOffsets: readOffsets(given('offsets')),
    taskEndOffsets: readOffsets(given('ends')),
    shutdownApplication: named.get('shutdown') === 'yes',
  };
}

/** Who asks: `client` (client-NAME) and `host` (127.0.0.1); `version` (1) is the request's. */
export function readClient(name: string, named: Words['named']): Client {
  return {
    clientId: named.get('client') ?? `client-${name}`,
    clientHost: `/${named.get('host') ?? '127.0.0.1'}`,
    apiVersion: Number(named.get('version') ?? '1'),
  };
}

/**
 * `topology 1: in | in2 changelog=c sink=r | repartition=r:8`: the words of each subtopology, whose ids are 0, 1, ..., or `id`.
 * Plain words are source topics; `regex`, `changelog`, `sink` and `repartition` take several names, `with=a+b` copartitions.
 */
export function readTopology({ all }: Words): Topology {
  const parts = all
    .slice(2)
    .join(' ')
    .split('|')
    .map((part) => part.trim());
  return {
    epoch: Number.parseInt(all[1] ?? '0', 10),
    subtopologies: parts.map((part, at) => {
      const words = readWords(part);
      return readSubtopology(words.named.get('id') ?? String(at), words);
    }),
  };
}

function readSubtopology(subtopologyId: string, { plain, named }: Words): Subtopology {
  const list = (word: string) => (named.has(word) ? (named.get(word) ?? '').split(',') : []);
  const infos = (word: string) =>
    list(word).map((each) => {
      const [name = '', partitions = '0'] = each.split(':');
      return info(name, { partitions: Number(partitions) });
    });
  const sourceTopics = plain.filter((word) => word !== '');
  const repartitionSourceTopics = infos('repartition');
  const indices = (names: readonly string[], among: readonly string[]) =>
    names.map((name) => among.indexOf(name)).filter((at) => at >= 0);
  const sourceTopicRegex = list('regex');
  return subtopology(subtopologyId, {
    sourceTopics,
    sourceTopicRegex,
    stateChangelogTopics: infos('changelog'),
    repartitionSinkTopics: list('sink'),
    repartitionSourceTopics,
    copartitionGroups: list('with').map((group) => {
      const names = group.split('+');
      const repartitions = repartitionSourceTopics.map((topic) => topic.name);
      return copartition({
        sourceTopics: indices(names, sourceTopics),
        sourceTopicRegex: indices(names, sourceTopicRegex),
        repartitionSourceTopics: indices(names, repartitions),
      });
    }),
  });
}

/** `-` not sent; `0:[0]|[]|[]` by role; a role left out is empty, a role written `-` is null. */
function readOwned(text: string) {
  const roles = text.split('|');
  const at = (role: number) => {
    const list = roles[role] ?? (text === '-' ? '-' : '[]');
    return list === '-' ? null : readTasks(list);
  };
  return [at(0), at(1), at(2)] as const;
}

function readEndpoint(text: string | null): Endpoint | null {
  if (text === null) return null;
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

/** `zone:a,cluster:c`. */
function readTags(text: string | null): readonly KeyValue[] | null {
  if (text === null) return null;
  return text
    .split(',')
    .filter((tag) => tag !== '')
    .map((tag) => {
      const [key = '', value = ''] = tag.split(':');
      return { key, value };
    });
}

/** `0_0:50,0_1:max`; nothing between the commas is an empty list. */
function readOffsets(text: string | null): readonly TaskOffset[] | null {
  if (text === null) return null;
  return text
    .split(',')
    .filter((each) => each !== '')
    .map((each) => {
      const [, subtopologyId = '', partition, offset = ''] = /^(.+)_(\d+):(.+)$/.exec(each) ?? [];
      const exact = offset === 'max' ? 2n ** 63n - 1n : BigInt(offset);
      return { subtopologyId, partition: Number(partition), offset: exact };
    });
}
