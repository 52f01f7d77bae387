import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import type { HandlerParts } from '../handler-parts.ts';
import type { ConfigResources, Outcome } from '../ports.ts';
import type { ConfigKind } from './config-resources.ts';
import {
  configKind,
  namelessGroup,
  refusalToConfigure,
  unknownKind,
  unknownResource,
} from './config-resources.ts';

type Parts = Pick<HandlerParts, 'configs' | 'authorizer'>;
type ResourceToAlter = RequestOf<'IncrementalAlterConfigs'>['resources'][number];
type Step = ResourceToAlter['configs'][number];
type Named = { readonly resourceType: number; readonly resourceName: string };
type ResourceAnswered = NonNullable<ResponseInput<'IncrementalAlterConfigs'>['responses']>[number];
type Changes = ReadonlyMap<string, string | null>;

/** Numbers of the operations (wire.md 3.1). */
const SET = 0;
const DELETE = 1;
const APPEND = 2;
const SUBTRACT = 3;

/**
 * Answers IncrementalAlterConfigs: each resource's changes are made all or none, one resource after the other.
 *
 * Refuses a resource or a key that is named twice, a null value that is not a deletion and a group without a name (42),
 * appending to and subtracting from a group's settings, or any that is no list (40), and an operation that does not
 * exist (-1; 42 of a broker).
 *
 * Source: records-and-configs GC-2 to GC-4, GC-8; wire.md key 44.
 */
export function answerIncrementalAlterConfigs(parts: Parts): Answering<'IncrementalAlterConfigs'> {
  return async ({ resources, validateOnly }, { connection: { principal } }) => {
    const responses = await alterAll(parts, principal, resources, (resource, { kind, stored }) => {
      const changes = changesOf(resource, kind, stored);
      return 'error' in changes
        ? changes
        : stored.alter(resource.resourceName, changes, { validateOnly });
    });
    return { responses };
  };
}

/**
 * Answers AlterConfigs: the values given become all the values that are set on the resource.
 *
 * Source: wire.md key 33; records-and-configs GC-2.
 */
export function answerAlterConfigs(parts: Parts): Answering<'AlterConfigs'> {
  return async ({ resources, validateOnly }, { connection: { principal } }) => {
    const responses = await alterAll(parts, principal, resources, (resource, { stored }) => {
      const { resourceName: name, configs } = resource;
      const repeated = firstRepeated(configs);
      if (repeated !== undefined) return invalid(`"${repeated}" is named twice`);
      const changes = new Map<string, string | null>();
      for (const key of stored.overrides(name).keys()) changes.set(key, null);
      for (const { name: key, value } of configs) {
        if (value === null) return invalid(`"${key}" has no value`);
        changes.set(key, value);
      }
      return stored.alter(name, changes, { validateOnly });
    });
    return { responses };
  };
}

type Target = { readonly kind: ConfigKind; readonly stored: ConfigResources };

/** What both APIs check alike, then `alter` for each resource that is left. */
async function alterAll<R extends Named>(
  { configs, authorizer }: Parts,
  principal: string,
  resources: readonly R[],
  alter: (resource: R, target: Target) => Outcome | Promise<Outcome>,
): Promise<ResourceAnswered[]> {
  const counts = new Map<string, number>();
  for (const one of resources) counts.set(idOf(one), (counts.get(idOf(one)) ?? 0) + 1);
  const answered: ResourceAnswered[] = [];
  for (const resource of resources) {
    const { resourceType, resourceName } = resource;
    const { error, message } = await alterOne(resource);
    answered.push({
      errorCode: errorCode(error),
      errorMessage: message,
      resourceType,
      resourceName,
    });
  }
  return answered;

  async function alterOne(resource: R): Promise<Outcome> {
    const { resourceType, resourceName: name } = resource;
    if ((counts.get(idOf(resource)) ?? 0) > 1) return invalid('the resource is named twice');
    const kind = configKind(resourceType);
    if (kind === undefined) return unknownKind(resourceType);
    const refusal = refusalToConfigure(authorizer, principal, 'ALTER_CONFIGS', { kind, name });
    if (refusal !== undefined) return { error: refusal, message: null };
    if (kind === 'group' && name === '') return namelessGroup();
    const stored = configs[kind];
    if (stored.describe(name) === undefined) return unknownResource(kind, name);
    return alter(resource, { kind, stored });
  }
}

function idOf({ resourceType, resourceName }: Named): string {
  return `${resourceType} ${resourceName}`;
}

function invalid(what: string): Outcome {
  return { error: 'INVALID_REQUEST', message: `Cannot alter configs: ${what}` };
}

function firstRepeated(configs: readonly { readonly name: string }[]): string | undefined {
  const seen = new Set<string>();
  for (const { name } of configs) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** Turns the steps into values to set (null: to take away); the first step that cannot be refuses them all. */
function changesOf(
  { configs, resourceName }: ResourceToAlter,
  kind: ConfigKind,
  stored: ConfigResources,
): Changes | Outcome {
  const repeated = firstRepeated(configs);
  if (repeated !== undefined) return invalid(`"${repeated}" is named twice`);
  const changes = new Map<string, string | null>();
  for (const step of configs) {
    const { name, configOperation: operation, value } = step;
    if (operation === DELETE) {
      changes.set(name, null);
      continue;
    }
    if (operation < SET || operation > SUBTRACT) return unknownOperation(kind, operation);
    if (value === null) return invalid(`"${name}" has no value`);
    if (operation === SET) {
      changes.set(name, value);
      continue;
    }
    const outcome =
      kind === 'group' ? noList(name) : editList({ ...step, value }, resourceName, stored);
    if (typeof outcome !== 'string') return outcome;
    changes.set(name, outcome);
  }
  return changes;
}

/** Brokers say what is wrong, where the controller of a cluster fails: that is what Kafka's clients see. */
function unknownOperation(kind: ConfigKind, operation: number): Outcome {
  return kind === 'broker'
    ? invalid(`there is no operation ${operation}, wanted ${SET} to ${SUBTRACT}`)
    : { error: 'UNKNOWN_SERVER_ERROR', message: null };
}

function noList(name: string): Outcome {
  const message = `Cannot append to or subtract from "${name}": it is no list that could be changed so`;
  return { error: 'INVALID_CONFIG', message };
}

/** The list after the step; an item is there once. */
function editList(
  step: Step & { readonly value: string },
  resourceName: string,
  stored: ConfigResources,
): string | Outcome {
  const entry = stored.describe(resourceName)?.find(({ name }) => name === step.name);
  if (entry?.type !== 'list') return noList(step.name);
  const before = itemsOf(entry.value ?? '');
  const named = itemsOf(step.value);
  const after =
    step.configOperation === APPEND
      ? [...before, ...named.filter((item) => !before.includes(item))]
      : before.filter((item) => !named.includes(item));
  return after.join(',');
}

function itemsOf(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
