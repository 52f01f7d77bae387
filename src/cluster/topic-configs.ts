/** The types as DescribeConfigs names them. */
export type TopicConfigType = 'boolean' | 'int' | 'long' | 'double' | 'string' | 'list';

/** A setting of a topic. Headgate stores no messages, so it only keeps and shows them. */
export type TopicConfig = {
  readonly type: TopicConfigType;
  /** In force where a topic sets nothing. */
  readonly fallback: string;
  /** Whether the text is an allowed value. */
  readonly allows: (text: string) => boolean;
  /** What is allowed, in words. */
  readonly allowed: string;
};

const INT_MAX = 2n ** 31n - 1n;
const LONG_MAX = 2n ** 63n - 1n;
const LARGEST = String(LONG_MAX);

function whole(type: 'int' | 'long', fallback: string, min: bigint): TopicConfig {
  const max = type === 'int' ? INT_MAX : LONG_MAX;
  return {
    type,
    fallback,
    allows: (text) => {
      if (!/^\s*[+-]?\d{1,19}\s*$/.test(text)) return false;
      const value = BigInt(text.trim().replace(/^\+/, ''));
      return value >= min && value <= max;
    },
    allowed: `a whole number from ${min} to ${max}`,
  };
}

function boolean(fallback: 'true' | 'false'): TopicConfig {
  return {
    type: 'boolean',
    fallback,
    allows: (text) => ['true', 'false'].includes(text.trim().toLowerCase()),
    allowed: 'true or false',
  };
}

function oneOf(fallback: string, values: readonly string[]): TopicConfig {
  return {
    type: 'string',
    fallback,
    allows: (text) => values.includes(text),
    allowed: `one of ${values.join(', ')}`,
  };
}

function list(fallback: string, pattern: RegExp, allowed: string): TopicConfig {
  return {
    type: 'list',
    fallback,
    allows: (text) => text.split(',').every((item) => pattern.test(item.trim())),
    allowed,
  };
}

const replicas = list('', /^(?:|\*|\d+:\d+)$/, 'partition:broker pairs parted by commas, or *');
const ratio: TopicConfig = {
  type: 'double',
  fallback: '0.5',
  allows: (text) => text.trim() !== '' && Number(text) >= 0 && Number(text) <= 1,
  allowed: 'a number from 0 to 1',
};

/** Every setting a topic can have, with Kafka's names and defaults. */
export const topicConfigs: ReadonlyMap<string, TopicConfig> = new Map(
  Object.entries({
    'cleanup.policy': list('delete', /^(?:compact|delete)$/, 'compact, delete or both'),
    'compression.gzip.level': whole('int', '-1', -1n),
    'compression.lz4.level': whole('int', '9', 1n),
    'compression.type': oneOf('producer', [
      'uncompressed',
      'zstd',
      'lz4',
      'snappy',
      'gzip',
      'producer',
    ]),
    'compression.zstd.level': whole('int', '3', -131072n),
    'delete.retention.ms': whole('long', '86400000', 0n),
    'file.delete.delay.ms': whole('long', '60000', 0n),
    'flush.messages': whole('long', LARGEST, 1n),
    'flush.ms': whole('long', LARGEST, 0n),
    'follower.replication.throttled.replicas': replicas,
    'index.interval.bytes': whole('int', '4096', 0n),
    'leader.replication.throttled.replicas': replicas,
    'local.retention.bytes': whole('long', '-2', -2n),
    'local.retention.ms': whole('long', '-2', -2n),
    'max.compaction.lag.ms': whole('long', LARGEST, 1n),
    'max.message.bytes': whole('int', '1048588', 0n),
    'message.timestamp.after.max.ms': whole('long', '3600000', 0n),
    'message.timestamp.before.max.ms': whole('long', LARGEST, 0n),
    'message.timestamp.type': oneOf('CreateTime', ['CreateTime', 'LogAppendTime']),
    'min.cleanable.dirty.ratio': ratio,
    'min.compaction.lag.ms': whole('long', '0', 0n),
    'min.insync.replicas': whole('int', '1', 1n),
    preallocate: boolean('false'),
    'remote.log.copy.disable': boolean('false'),
    'remote.log.delete.on.disable': boolean('false'),
    'remote.storage.enable': boolean('false'),
    'retention.bytes': whole('long', '-1', -(2n ** 63n)),
    'retention.ms': whole('long', '604800000', -1n),
    'segment.bytes': whole('int', '1073741824', 14n),
    'segment.index.bytes': whole('int', '10485760', 4n),
    'segment.jitter.ms': whole('long', '0', 0n),
    'segment.ms': whole('long', '604800000', 1n),
    'unclean.leader.election.enable': boolean('false'),
  }),
);

/**
 * Says what is wrong with a topic's settings: an unknown name or a value that is not allowed, the first of them with
 * the value seen and the value wanted. Undefined when all is well.
 */
export function faultOfTopicConfigs(configs: ReadonlyMap<string, string>): string | undefined {
  for (const [name, value] of configs) {
    const config = topicConfigs.get(name);
    if (config === undefined) return `Set topic config ${name}: there is no such config`;
    if (!config.allows(value)) {
      return `Set topic config ${name}: "${value}", wanted ${config.allowed}`;
    }
  }
  return undefined;
}
