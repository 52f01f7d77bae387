import { byCodeUnits, LAST_EPOCH } from '../model/ids.ts';
import type { Behaviour } from '../model/profile.ts';
import { Refusal } from '../model/refusal.ts';
import type { GroupSettings } from '../model/settings.ts';
import type { KeyValue } from '../model/topology.ts';
import { RACK_AWARE_TAGS_KEY, storedTags } from './client-tags.ts';
import type { Draft } from './draft.ts';
import { sameKeyValues } from './member-fields.ts';

const STANDBY_KEY = 'num.standby.replicas';
const ASSIGNOR_KEY = 'assignor.name';

/** Settings stay the same object until one changes, so the list is made once and idle heartbeats build nothing. */
const configsOf = new WeakMap<GroupSettings, Map<boolean, readonly KeyValue[]>>();

/** The assignment configs in force as the group's record stores them, ascending by key (SC-1, SC-2). */
export function assignmentConfigs(
  settings: GroupSettings,
  behaviour: Behaviour,
): readonly KeyValue[] {
  const withAssignor = behaviour.assignorNameIsConfig;
  const known = configsOf.get(settings)?.get(withAssignor);
  if (known !== undefined) return known;
  const configs = [{ key: STANDBY_KEY, value: String(settings.numStandbyReplicas) }];
  if (settings.rackAwareAssignmentTags.length > 0) {
    configs.push({ key: RACK_AWARE_TAGS_KEY, value: settings.rackAwareAssignmentTags.join(',') });
  }
  // One that is missing stays the one selected: that it is gone is no reason to move tasks.
  const selected = settings.assignorSelected ? settings.assignorName : undefined;
  const value = settings.assignorMissing ?? selected;
  if (withAssignor && value !== undefined) configs.push({ key: ASSIGNOR_KEY, value });
  configs.sort((a, b) => byCodeUnits(a.key, b.key));
  const byKind = configsOf.get(settings) ?? new Map<boolean, readonly KeyValue[]>();
  configsOf.set(settings, byKind.set(withAssignor, configs));
  return configs;
}

/**
 * The keys whose stored value is not the one in force (GE-7). Where the profile compares key by key, an absent key
 * stands for its default and an unknown one is ignored; else any difference counts, an unknown key too (SC-2).
 */
export function changedConfigs(
  stored: readonly KeyValue[],
  settings: GroupSettings,
  behaviour: Behaviour,
): readonly string[] {
  const configs = assignmentConfigs(settings, behaviour);
  if (sameKeyValues(stored, configs)) return NO_KEYS;
  const current = new Map(configs.map(({ key, value }) => [key, value]));
  const before = new Map(stored.map(({ key, value }) => [key, value]));
  if (!behaviour.assignorNameIsConfig) {
    const keys = new Set([...current.keys(), ...before.keys()]);
    return [...keys].filter((key) => current.get(key) !== before.get(key));
  }
  return [STANDBY_KEY, RACK_AWARE_TAGS_KEY, ASSIGNOR_KEY].filter((key) => {
    const absent = key === STANDBY_KEY ? '0' : '';
    return (current.get(key) ?? absent) !== (before.get(key) ?? absent);
  });
}

const NO_KEYS: readonly string[] = [];

/**
 * Raises the group epoch by one, whatever the number of reasons, and writes the group's record with all of its
 * current values (GE, SC-4).
 *
 * @param reasons in words, at least one; they go into the journal before the epochs.
 * @param values what changes beside the epoch.
 * @throws Refusal COORDINATOR_NOT_AVAILABLE when the epoch would wrap (WR-12).
 */
export function raiseGroupEpoch(
  draft: Draft,
  reasons: readonly string[],
  values: {
    readonly metadataHash?: bigint;
    readonly validatedTopologyEpoch?: number;
    readonly lastAssignmentConfigs?: readonly KeyValue[];
  } = {},
): void {
  const { group } = draft;
  if (group.groupEpoch >= LAST_EPOCH) throw new Refusal('COORDINATOR_NOT_AVAILABLE', null);
  const groupEpoch = group.groupEpoch + 1;
  draft.write({
    type: 'groupMetadata',
    groupId: group.groupId,
    value: {
      groupEpoch,
      metadataHash: values.metadataHash ?? group.metadataHash,
      validatedTopologyEpoch: values.validatedTopologyEpoch ?? group.validatedTopologyEpoch,
      lastAssignmentConfigs: values.lastAssignmentConfigs ?? group.lastAssignmentConfigs,
      storedDescriptionTopologyEpoch: group.storedDescriptionTopologyEpoch,
      failedDescriptionTopologyEpoch: group.failedDescriptionTopologyEpoch,
    },
  });
  draft.say(`${reasons.join('; ')}: group epoch ${group.groupEpoch} -> ${groupEpoch}`);
}

/**
 * The settings as the group's record has them: what a target computed without a heartbeat goes by (ASG-5). An absent key
 * stands for its default, so without an assignor none is selected (SC-2); where the assignor is not among the configs, the
 * one in force counts (RT-7).
 *
 * @param stored of a bump in this process, so that an assignor it names is registered, or the one that is missing.
 */
export function withStoredConfigs(
  settings: GroupSettings,
  stored: readonly KeyValue[],
  behaviour: Behaviour,
): GroupSettings {
  const storedValue = (wanted: string) => stored.find(({ key }) => key === wanted)?.value;
  const standbys = storedValue(STANDBY_KEY);
  const assignor = storedValue(ASSIGNOR_KEY);
  const isMissing = assignor !== undefined && assignor === settings.assignorMissing;
  return {
    ...settings,
    numStandbyReplicas: standbys === undefined ? 0 : Number(standbys),
    rackAwareAssignmentTags: storedTags(stored),
    ...(behaviour.assignorNameIsConfig && !isMissing
      ? {
          assignorName: assignor ?? settings.assignorName,
          assignorSelected: assignor !== undefined,
        }
      : {}),
  };
}
