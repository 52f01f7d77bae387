/** The assignors there are; the first is Apache Kafka's default, and stands in for a name that is unknown. */
export const ASSIGNORS = ['sticky', 'balanced', 'highly_available'] as const;

export type AssignorName = (typeof ASSIGNORS)[number];

/**
 * The assignor that suits a topology where nobody selected one.
 *
 * Source: KIP-1071, task assignors; assignors 0 (default choice).
 */
export function assignorByState(isStateful: boolean): AssignorName {
  return isStateful ? 'highly_available' : 'sticky';
}

/** Why a user's own assignor gave no assignment that could be used; a closed set, for metrics. */
export const MODULE_FAULTS = [
  /** It could not be loaded, or is no assignor. */
  'load',
  'threw',
  /** It took longer than it may. */
  'timeout',
  /** Its process ended. */
  'ended',
  /** It took more memory than it may. */
  'memory',
  /** What it returned is no assignment of the problem. */
  'invalid',
  /** Its assignment breaks a hard invariant. */
  'broken',
  /** Too many groups ask it at the same time. */
  'busy',
  /** It failed too often, and is left alone for a while. */
  'resting',
  /** The group selects it, and the coordinator was started without it. */
  'missing',
] as const;

export type ModuleFaultName = (typeof MODULE_FAULTS)[number];

/** Another assignor, as a rule one of ours, assigned in place of a user's own. */
export type StandIn = {
  readonly assignor: string;
  readonly insteadOf: string;
  readonly fault: ModuleFaultName;
  /** What was wrong with it, in a sentence without its end. */
  readonly reason: string;
};

/** As people are told. One that was not asked did nothing wrong, this time. */
export function standInText({ assignor, insteadOf, fault, reason }: StandIn): string {
  return `Assigned by ${assignor}, because ${WHAT_IS_WRONG[fault](insteadOf)}: ${reason}`;
}

const failed = (name: string) => `the own assignor ${name} failed`;
const notAsked = (name: string) => `the own assignor ${name} was not asked`;

const WHAT_IS_WRONG: Readonly<Record<ModuleFaultName, (name: string) => string>> = {
  load: failed,
  threw: failed,
  timeout: failed,
  ended: failed,
  memory: failed,
  invalid: failed,
  broken: failed,
  busy: notAsked,
  resting: notAsked,
  missing: (name) => `the assignor ${name} that the group selects is missing`,
};
