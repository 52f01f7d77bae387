import type { WireErrorName } from '../../wire/errors.ts';
import type { Authorizer } from '../authorize.ts';
import { CLUSTER_RESOURCE } from '../authorize.ts';
import type { ConfigStore, Outcome } from '../ports.ts';

/** Kinds of resources that have settings here. */
export type ConfigKind = keyof ConfigStore;

/** Numbers of the resource types on the wire (wire.md 3.1). */
export const RESOURCE_TYPES = {
  topic: 2,
  broker: 4,
  group: 32,
} as const satisfies Record<ConfigKind, number>;

const KINDS = new Map<number, ConfigKind>([
  [RESOURCE_TYPES.topic, 'topic'],
  [RESOURCE_TYPES.broker, 'broker'],
  [RESOURCE_TYPES.group, 'group'],
]);

/** What is meant by a resource type; undefined for one that has no settings here. */
export function configKind(resourceType: number): ConfigKind | undefined {
  return KINDS.get(resourceType);
}

/** The answer to a resource type that has no settings here. */
export function unknownKind(resourceType: number): Outcome {
  const wanted = Object.values(RESOURCE_TYPES).join(', ');
  const message = `Cannot configure resource type ${resourceType}, wanted one of ${wanted}`;
  return { error: 'INVALID_REQUEST', message };
}

/** Any id is a group's, but for the empty one (GC-2). */
export function namelessGroup(): Outcome {
  return { error: 'INVALID_REQUEST', message: 'Cannot configure a group: its id is empty' };
}

/** Where there is no such topic or broker. */
export function unknownResource(kind: ConfigKind, name: string): Outcome {
  return kind === 'topic'
    ? { error: 'UNKNOWN_TOPIC_OR_PARTITION', message: `Cannot find topic "${name}"` }
    : { error: 'INVALID_REQUEST', message: `Cannot find ${kind} "${name}"` };
}

const REFUSALS = {
  topic: 'TOPIC_AUTHORIZATION_FAILED',
  broker: 'CLUSTER_AUTHORIZATION_FAILED',
  group: 'GROUP_AUTHORIZATION_FAILED',
} as const satisfies Record<ConfigKind, WireErrorName>;

/** The error when the principal may not look at or change these settings; undefined when it may (GC-8). */
export function refusalToConfigure(
  authorizer: Authorizer,
  principal: string,
  operation: 'DESCRIBE_CONFIGS' | 'ALTER_CONFIGS',
  resource: { readonly kind: ConfigKind; readonly name: string },
): WireErrorName | undefined {
  const { kind, name } = resource;
  const isAllowed =
    kind === 'broker'
      ? authorizer.allows(principal, operation, 'CLUSTER', CLUSTER_RESOURCE)
      : authorizer.allows(principal, operation, kind === 'topic' ? 'TOPIC' : 'GROUP', name);
  return isAllowed ? undefined : REFUSALS[kind];
}
