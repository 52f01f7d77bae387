import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import { CLUSTER_RESOURCE } from '../authorize.ts';
import type { HandlerParts } from '../handler-parts.ts';
import type { ConfigEntry, ConfigSource, ConfigType, Outcome } from '../ports.ts';
import {
  configKind,
  namelessGroup,
  RESOURCE_TYPES,
  refusalToConfigure,
  unknownKind,
  unknownResource,
} from './config-resources.ts';

type Parts = Pick<HandlerParts, 'configs' | 'authorizer'>;
type Request = RequestOf<'DescribeConfigs'>;
type ResourceAsked = Request['resources'][number];
type ResourceAnswered = NonNullable<ResponseInput<'DescribeConfigs'>['results']>[number];
type Setting = NonNullable<ResourceAnswered['configs']>[number];

const SOURCES = {
  TOPIC_CONFIG: 1,
  DYNAMIC_BROKER_CONFIG: 2,
  DYNAMIC_DEFAULT_BROKER_CONFIG: 3,
  STATIC_BROKER_CONFIG: 4,
  DEFAULT_CONFIG: 5,
  GROUP_CONFIG: 8,
} as const satisfies Record<ConfigSource, number>;

const TYPES = {
  boolean: 1,
  string: 2,
  int: 3,
  short: 4,
  long: 5,
  double: 6,
  list: 7,
  class: 8,
  password: 9,
} as const satisfies Record<ConfigType, number>;

/** The number of a source on the wire (wire.md 3.1). */
export function configSourceCode(source: ConfigSource): number {
  return SOURCES[source];
}

/**
 * Answers DescribeConfigs. A group's settings are shown whether or not the group exists; a name that no setting has is
 * left out without a word. Success carries an empty message, not none.
 *
 * Source: records-and-configs 8, GC-7, GC-8; wire.md key 32.
 */
export function answerDescribeConfigs({
  configs,
  authorizer,
}: Parts): Answering<'DescribeConfigs'> {
  return (request, { connection: { principal } }) => {
    return { results: request.resources.map((asked) => describe(asked, request, principal)) };
  };

  function describe(asked: ResourceAsked, request: Request, principal: string): ResourceAnswered {
    const { resourceType, resourceName: name, configurationKeys: keys } = asked;
    const kind = configKind(resourceType);
    if (kind === undefined) return refuse(asked, unknownKind(resourceType));
    const refusal = refusalToConfigure(authorizer, principal, 'DESCRIBE_CONFIGS', { kind, name });
    if (refusal !== undefined) return refuse(asked, { error: refusal, message: null });
    if (kind === 'group' && name === '') return refuse(asked, namelessGroup());
    const entries = configs[kind].describe(name);
    if (entries === undefined) return refuse(asked, unknownResource(kind, name));
    const wanted =
      keys === null || keys.length === 0
        ? entries
        : entries.filter((entry) => keys.includes(entry.name));
    return {
      errorMessage: '',
      resourceType,
      resourceName: name,
      configs: wanted.map((entry) => setting(entry, request)),
    };
  }
}

function setting(entry: ConfigEntry, request: Request): Setting {
  const { name, value, source, type, readOnly, sensitive, synonyms, documentation } = entry;
  const shown = request.includeSynonyms ? synonyms : [];
  return {
    name,
    value: sensitive ? null : value,
    readOnly,
    configSource: SOURCES[source],
    isSensitive: sensitive,
    synonyms: shown.map((synonym) => ({
      name: synonym.name,
      value: sensitive ? null : synonym.value,
      source: SOURCES[synonym.source],
    })),
    configType: TYPES[type],
    documentation: request.includeDocumentation ? documentation : null,
  };
}

function refuse(asked: ResourceAsked, { error, message }: Outcome): ResourceAnswered {
  const { resourceType, resourceName } = asked;
  return { errorCode: errorCode(error), errorMessage: message, resourceType, resourceName };
}

const CLIENT_METRICS = 16;
const BROKER_LOGGER = 8;
/** Types of which there are resources here, or could be. */
const LISTABLE = new Set<number>([...Object.values(RESOURCE_TYPES), BROKER_LOGGER, CLIENT_METRICS]);
const FIRST_WITH_TYPES = 1;

/**
 * Answers ListConfigResources: topics, this node, and the groups that have settings of their own. Version 0 asks for
 * client metrics alone, of which there are none.
 *
 * Source: GC-9; wire.md key 74.
 */
export function answerListConfigResources(
  parts: Pick<HandlerParts, 'configs' | 'catalogue' | 'identity' | 'authorizer'>,
): Answering<'ListConfigResources'> {
  const { configs, catalogue, identity, authorizer } = parts;

  return ({ resourceTypes }, { apiVersion, connection: { principal } }) => {
    if (!authorizer.allows(principal, 'DESCRIBE_CONFIGS', 'CLUSTER', CLUSTER_RESOURCE)) {
      return { errorCode: errorCode('CLUSTER_AUTHORIZATION_FAILED') };
    }
    if (apiVersion < FIRST_WITH_TYPES) return {};
    if (!resourceTypes.every((type) => LISTABLE.has(type))) {
      return { errorCode: errorCode('UNSUPPORTED_VERSION') };
    }
    const types = resourceTypes.length === 0 ? LISTABLE : new Set(resourceTypes);
    return {
      configResources: [...types].flatMap((resourceType) =>
        namesOf(resourceType).map((resourceName) => ({ resourceName, resourceType })),
      ),
    };
  };

  function namesOf(resourceType: number): readonly string[] {
    switch (configKind(resourceType)) {
      case 'topic':
        return catalogue.list().map(({ name }) => name);
      case 'broker':
        return [String(identity.nodeId)];
      case 'group':
        return configs.group.overridden();
      default:
        return [];
    }
  }
}
