import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { Log, PatternsPort, TopicsPort } from '../../actors/ports.ts';
import type { Behaviour } from '../../machines/model/profile.ts';
import type { Authorizer } from './authorize.ts';
import type { ClusterIdentity, ConfigStore, TopicCatalogue } from './ports.ts';

/** What handlers are built from; each says which of these it needs. */
export type HandlerParts = {
  readonly coordinator: GroupCoordinator;
  readonly topics: Pick<TopicsPort, 'ensureKnown'>;
  readonly patterns: PatternsPort;
  readonly catalogue: TopicCatalogue;
  readonly configs: ConfigStore;
  readonly identity: ClusterIdentity;
  readonly authorizer: Authorizer;
  readonly behaviour: Behaviour;
  /** `streams.version` is at least 1 and the protocol is among those enabled (FF-2). */
  readonly streamsEnabled: boolean;
  /** A cluster behind this process carries the records; without one, clients that want data are warned of. */
  readonly carriesData: boolean;
  readonly log: Log;
};
