import { byCodeUnits } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import type { KeyValue } from '../model/topology.ts';
import { firstFew } from './first-few.ts';

/** The key under which the group's record keeps the rack-aware assignment tags (SC-1). */
export const RACK_AWARE_TAGS_KEY = 'rack.aware.assignment.tags';

/** The rack-aware assignment tags of stored assignment configs, in their order; an absent key stands for none (SC-2). */
export function storedTags(configs: readonly KeyValue[]): readonly string[] {
  const stored = configs.find(({ key }) => key === RACK_AWARE_TAGS_KEY)?.value;
  return stored === undefined ? NO_TAGS : stored.split(',');
}

const NO_TAGS: readonly string[] = [];

type Tagged = Pick<Member, 'memberId' | 'clientTags'>;

/** How people find a member: ids are made by machines. An empty client id is left out. */
type Named = Pick<Member, 'memberId' | 'clientId' | 'processId'>;

/** Those of the tags that a member has no value for, in their order. */
export function tagsLackedBy(
  { clientTags }: Pick<Tagged, 'clientTags'>,
  tags: readonly string[],
): readonly string[] {
  if (tags.length === 0) return NO_TAGS;
  return tags.filter((tag) => !clientTags.some(({ key }) => key === tag));
}

/** A tag that the assignment is to go by, and the members without a value for it, ascending by id; at least one. */
export type LackedTag = { readonly tag: string; readonly memberIds: readonly string[] };

/** The tags that not every member has, in their order: a misspelt one is lacked by all. Looks at every member. */
export function lackedTags(
  members: readonly Tagged[],
  tags: readonly string[],
): readonly LackedTag[] {
  return tags.flatMap((tag) => {
    const lacking = members.filter((member) => tagsLackedBy(member, [tag]).length > 0);
    const memberIds = lacking.map(({ memberId }) => memberId).sort(byCodeUnits);
    return memberIds.length === 0 ? [] : [{ tag, memberIds }];
  });
}

/** A line that tells who lacks a tag, of all the members; the first few by name. */
export function lackedTagText({ tag, memberIds }: LackedTag, members: readonly Named[]): string {
  const { length } = memberIds;
  if (length === members.length) {
    return `No member has the client tag ${tag}, which ${RACK_AWARE_TAGS_KEY} names`;
  }
  const lacking = new Set(memberIds);
  const named = new Map<string, string>();
  for (const member of members) {
    if (lacking.has(member.memberId)) named.set(member.memberId, nameOf(member));
  }
  const names = memberIds.map((memberId) => named.get(memberId) ?? memberId);
  return `${length} of ${members.length} members lack the client tag ${tag}, which ${RACK_AWARE_TAGS_KEY} names: ${firstFew(names)}`;
}

function nameOf({ memberId, clientId, processId }: Named): string {
  const client = clientId === '' ? '' : `client ${clientId}, `;
  return `${memberId} (${client}process ${processId})`;
}
