/** What may be done to a resource; Kafka's words. */
export type Operation =
  | 'READ'
  | 'WRITE'
  | 'CREATE'
  | 'DELETE'
  | 'ALTER'
  | 'DESCRIBE'
  | 'DESCRIBE_CONFIGS'
  | 'ALTER_CONFIGS';

export type ResourceType = 'GROUP' | 'TOPIC' | 'CLUSTER';

/** The one resource of type CLUSTER. */
export const CLUSTER_RESOURCE = 'kafka-cluster';

/** Who asks when nobody said who they are. */
export const ANONYMOUS = 'User:ANONYMOUS';

/**
 * Says what a principal may do. Asked at every request, so that a right taken away counts at once; answers from
 * memory.
 *
 * Source: topology-and-admin 18.
 */
export interface Authorizer {
  allows(principal: string, operation: Operation, type: ResourceType, name: string): boolean;
}

/** No authorizer is configured: everything is allowed. */
export const allowAll: Authorizer = { allows: () => true };

/** Codes of the operations; bit 1 << code in an answer's AuthorizedOperations (wire.md 3.1). */
const CODES = {
  READ: 3,
  WRITE: 4,
  CREATE: 5,
  DELETE: 6,
  ALTER: 7,
  DESCRIBE: 8,
  DESCRIBE_CONFIGS: 10,
  ALTER_CONFIGS: 11,
} as const satisfies Record<Operation, number>;

const OPERATIONS = {
  GROUP: ['READ', 'DELETE', 'DESCRIBE', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS'],
  TOPIC: [
    'READ',
    'WRITE',
    'CREATE',
    'DELETE',
    'ALTER',
    'DESCRIBE',
    'DESCRIBE_CONFIGS',
    'ALTER_CONFIGS',
  ],
  CLUSTER: ['CREATE', 'ALTER', 'DESCRIBE', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS'],
} as const satisfies Record<ResourceType, readonly Operation[]>;

/** AuthorizedOperations that were not asked for. */
export const NOT_ASKED = -(2 ** 31);

/** The AuthorizedOperations field: the operations that apply to the type and are allowed, as bits. */
export function authorizedOperations(
  authorizer: Authorizer,
  principal: string,
  type: ResourceType,
  name: string,
): number {
  let bits = 0;
  for (const operation of OPERATIONS[type]) {
    if (authorizer.allows(principal, operation, type, name)) bits |= 1 << CODES[operation];
  }
  return bits;
}
