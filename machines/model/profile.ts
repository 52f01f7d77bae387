/** `kip` does what KIP-1071 promises; `kafka` answers as Apache Kafka 4.4.0 does, save for what is plainly a defect of it. */
export type Profile = 'kip' | 'kafka';

/**
 * Every difference between the two profiles, resolved once. Code asks for the behaviour it needs, never for
 * the profile. A sub-switch is a setting of its own whose default the profile sets.
 */
export type Behaviour = {
  readonly profile: Profile;
  /** FENCED_MEMBER_EPOCH also removes the member (EPO-6, X1). Sub-switch `fence.removes.member`. */
  readonly fenceRemovesMember: boolean;
  /** A join with an older topology: refused, or accepted and told so (X3, E-5). Sub-switch `join.with.stale.topology`. */
  readonly acceptStaleTopologyJoin: boolean;
  /** Members of an older topology share in what is assigned; else they get no new task (X6, E-9). */
  readonly assignToStaleMembers: boolean;
  /** Tasks are placed as Kafka's own sticky places them, down to which of equals it takes; else as ours does (assignors 8). */
  readonly placeAsKafka: boolean;
  /** Source topic patterns: resolved, or refused (X10, R-9). Sub-switch `source.topic.regex`. */
  readonly resolveSourceTopicRegex: boolean;
  /** A join with the next epoch replaces the topology, other mismatches are 131; else all are INVALID_REQUEST (X2, X4, X5). */
  readonly topologyUpdates: boolean;
  /** All structural checks up front (topology-and-admin V-1 to V-13, X7), else the fewest that must be. */
  readonly validateWholeTopology: boolean;
  /** Of fixed repartition topics those of a copartition group size it, else all there are in the topology do (6.5.3). */
  readonly fixedCountsStayInTheirGroup: boolean;
  /** The three owned lists must be disjoint (X8, REQ-15). */
  readonly refuseOverlappingTasks: boolean;
  /** RebalanceTimeoutMs must be above 0 on a join, else only -1 is refused (X9, REQ-10). */
  readonly refuseNonPositiveRebalanceTimeout: boolean;
  /** Task lists are repeated until the member reported them (X11, RSP-6), else sent once (RSP-5). */
  readonly repeatTasksUntilAcknowledged: boolean;
  /** Topologies are compared with no list order counting (E-2), else only the order of subtopologies is free. */
  readonly topologyListOrderIsFree: boolean;
  /** AcceptableRecoveryLag in version 0 carries the value (X25), else 0. */
  readonly recoveryLagInVersion0: boolean;
  /** One endpoint entry per endpoint, a removal is news, names filtered (X26), else one per member. */
  readonly mergeEndpoints: boolean;
  /** Shutdown in a refused leave changes nothing (X27, LEAVE-7), else it marks the group. */
  readonly shutdownNeedsAcceptedLeave: boolean;
  /** Where nobody selected an assignor the topology decides: one for state, one without (assignors 0); else the first of the list. */
  readonly assignorByState: boolean;
  /** What the join that creates a group does to the endpoint epoch counts, else it is told 0 and that is all (I-5, IQ-3). */
  readonly countEndpointsOfCreatingJoin: boolean;
  /** The selected assignor's name is part of the assignment configs, compared key by key (GE-7, SC-2). */
  readonly assignorNameIsConfig: boolean;
  /** The state filter accepts `NotReady` as well as `not_ready` (GS-3). */
  readonly bothStateSpellings: boolean;
  /** A repeated join of a static member by its own member id is served in place (X23, X24). */
  readonly staticJoinInPlace: boolean;
  /** A member that joins under another process leaves behind what that process holds already (S10), else it brings all along. */
  readonly oneCopyAfterMove: boolean;
  /** A new member that names no process is one of its own (REQ, end of section 1), else it has the empty process. */
  readonly missingProcessIsOwn: boolean;
  /** Settings of brokers and groups are listed for every key (GC-7), else some only where somebody set them. */
  readonly listAllConfigs: boolean;
  /** The refiner hands out warm-ups (D5). */
  readonly warmups: boolean;
};

/** The settings that override a profile's choice one by one; undefined leaves it to the profile. */
export type BehaviourSwitches = {
  readonly fenceRemovesMember?: boolean | undefined;
  readonly acceptStaleTopologyJoin?: boolean | undefined;
  readonly resolveSourceTopicRegex?: boolean | undefined;
};

/** Resolves profile and sub-switches to behaviour; the one place where the two profiles differ. */
export function resolveBehaviour(profile: Profile, switches: BehaviourSwitches = {}): Behaviour {
  const kip = profile === 'kip';
  return {
    profile,
    fenceRemovesMember: switches.fenceRemovesMember ?? kip,
    acceptStaleTopologyJoin: switches.acceptStaleTopologyJoin ?? !kip,
    assignToStaleMembers: !kip,
    placeAsKafka: !kip,
    resolveSourceTopicRegex: switches.resolveSourceTopicRegex ?? kip,
    topologyUpdates: kip,
    validateWholeTopology: kip,
    fixedCountsStayInTheirGroup: kip,
    refuseOverlappingTasks: kip,
    refuseNonPositiveRebalanceTimeout: kip,
    repeatTasksUntilAcknowledged: kip,
    topologyListOrderIsFree: kip,
    recoveryLagInVersion0: kip,
    mergeEndpoints: kip,
    shutdownNeedsAcceptedLeave: kip,
    assignorByState: kip,
    countEndpointsOfCreatingJoin: kip,
    assignorNameIsConfig: kip,
    bothStateSpellings: kip,
    staticJoinInPlace: kip,
    oneCopyAfterMove: kip,
    missingProcessIsOwn: kip,
    listAllConfigs: kip,
    warmups: kip,
  };
}
