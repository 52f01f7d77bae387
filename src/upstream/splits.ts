import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import { decodeBody } from '../server/answering.ts';
import type { Answer, Handler, IncomingRequest } from '../server/dispatch.ts';
import type { ApiName, RequestInput, RequestOf, ResponseInput, ResponseOf } from '../wire/apis.ts';
import { apis } from '../wire/apis.ts';
import { errorCode } from '../wire/errors.ts';
import { encodeResponseFrame } from '../wire/headers.ts';
import type { ClusterMap } from './cluster-map.ts';
import { answerLocally } from './local-answer.ts';
import type { PassOn } from './pass-on.ts';
import type { Placeholders } from './placeholders.ts';
import type { UpstreamPool } from './pool.ts';

export type SplitParts = {
  readonly coordinator: () => GroupCoordinator;
  readonly passOn: PassOn;
  readonly pool: UpstreamPool;
  readonly clusterMap: ClusterMap;
  readonly placeholders: Placeholders;
  /** The handlers that answer the local part, by API key. */
  readonly local: ReadonlyMap<number, Handler>;
};

/** An API whose request is a list of items, each answered here or upstream, and whose answer is a list as well. */
type Split<N extends ApiName, Q extends keyof RequestOf<N>, A extends keyof ResponseOf<N>> = {
  readonly items: Q;
  readonly answers: A;
  readonly isLocal: (item: ItemOf<RequestOf<N>[Q]>) => boolean | Promise<boolean>;
};
type ItemOf<L> = L extends readonly (infer I)[] ? I : never;

const STREAMS_TYPE = 'streams';
const CLASSIC_TYPE = 'classic';
const TYPES_SINCE = 5;
const STATES_SINCE = 4;
const GONE: readonly number[] = [errorCode('NONE'), errorCode('GROUP_ID_NOT_FOUND')];

/**
 * Handlers of APIs that are answered part here and part upstream, by whether a group's id is a streams group's. A
 * request that falls to one side whole goes there whole.
 *
 * Source: wire.md 4.4.
 */
export class Splits {
  private readonly parts: SplitParts;

  constructor(parts: SplitParts) {
    this.parts = parts;
  }

  /** By API key. */
  handlers(): ReadonlyMap<number, Handler> {
    const isStreamsGroup = (groupId: string) => this.isStreamsGroup(groupId);
    const byGroup = { isLocal: isStreamsGroup };
    return new Map([
      this.bySide('DescribeGroups', { items: 'groups', answers: 'groups', ...byGroup }),
      this.bySide('ConsumerGroupDescribe', { items: 'groupIds', answers: 'groups', ...byGroup }),
      this.answering('ListGroups', (request, body) => this.listGroups(request, body)),
      this.answering('DeleteGroups', (request, body) => this.deleteGroups(request, body)),
    ]);
  }

  /** A shard that cannot say yet answers for itself: that is local too. */
  private async isStreamsGroup(groupId: string): Promise<boolean> {
    const { error, state } = await this.parts.coordinator().streamsGroup(groupId);
    return error !== 'NONE' || state !== undefined;
  }

  private localHandler(name: ApiName): Handler {
    const handler = this.parts.local.get(apis[name].key);
    if (handler === undefined) throw new Error(`No handler here for ${name}`);
    return handler;
  }

  private bySide<
    N extends ApiName,
    Q extends keyof RequestOf<N> & string,
    A extends keyof ResponseOf<N> & string,
  >(name: N, split: Split<N, Q, A>): readonly [number, Handler] {
    const { passOn } = this.parts;
    const local = this.localHandler(name);
    const handle = async (request: IncomingRequest, passedOn: () => void): Promise<Answer> => {
      const { apiVersion, correlationId, connection } = request;
      const body = decodeBody(name, request);
      const items = body[split.items] as readonly ItemOf<RequestOf<N>[Q]>[];
      const sides = await Promise.all(items.map(split.isLocal));
      const part = (isHere: boolean) => {
        const chosen = items.filter((_, at) => sides[at] === isHere);
        return { ...body, [split.items]: chosen } as RequestInput<N>;
      };
      if (!sides.includes(true)) {
        const forwarded = passOn.forwarded(request);
        passedOn();
        return forwarded;
      }
      if (!sides.includes(false)) return local(request);
      const asked = passOn.link(connection).request(name, part(false), apiVersion);
      passedOn();
      const [ours, theirs] = await Promise.all([
        answerLocally(local, name, request, part(true)),
        asked,
      ]);
      const answers = [ours, theirs].flatMap((answer) => answer[split.answers] as unknown[]);
      const joined = { ...theirs, [split.answers]: answers } as ResponseInput<N>;
      return encodeResponseFrame(name, apiVersion, correlationId, joined);
    };
    return [
      apis[name].key,
      (request) => passOn.inOrder(request, (passedOn) => handle(request, passedOn)),
    ];
  }

  private answering<N extends ApiName>(
    name: N,
    answer: (request: IncomingRequest, body: RequestOf<N>) => Promise<ResponseInput<N>>,
  ): readonly [number, Handler] {
    const handle = async (request: IncomingRequest): Promise<Answer> => {
      const { apiVersion, correlationId } = request;
      const body = decodeBody(name, request);
      return encodeResponseFrame(name, apiVersion, correlationId, await answer(request, body));
    };
    return [apis[name].key, (request) => this.parts.passOn.inOrder(request, () => handle(request))];
  }

  /**
   * Ours are listed by one node alone, since clients ask all: by the live one with the lowest id, and by the bootstrap
   * address. Upstream's placeholders of them are left out everywhere.
   */
  private async listGroups(
    request: IncomingRequest,
    body: RequestOf<'ListGroups'>,
  ): Promise<ResponseInput<'ListGroups'>> {
    const { coordinator, clusterMap } = this.parts;
    const { nodeId } = request.connection.listener;
    const isTheOne = nodeId === 'bootstrap' || nodeId === (clusterMap.aliveIds[0] ?? nodeId);
    const [ours, theirs] = await Promise.all([
      answerLocally(this.localHandler('ListGroups'), 'ListGroups', request, body),
      this.groupsUpstream(request, body),
    ]);
    const streams = new Set(coordinator().groupIds());
    const foreign = theirs.groups.filter(({ groupId }) => !streams.has(groupId));
    return {
      errorCode: ours.errorCode === 0 ? theirs.errorCode : ours.errorCode,
      groups: isTheOne ? [...foreign, ...ours.groups] : foreign,
    };
  }

  /** As far as upstream's version has the filters; a group of a broker that knows no types is a classic one. */
  private async groupsUpstream(
    { connection }: IncomingRequest,
    { statesFilter, typesFilter }: RequestOf<'ListGroups'>,
  ): Promise<Pick<ResponseOf<'ListGroups'>, 'errorCode' | 'groups'>> {
    const link = this.parts.passOn.link(connection);
    const { ranges } = await link.versions();
    const version = Math.min(ranges.get(apis.ListGroups.key)?.max ?? 0, apis.ListGroups.maxVersion);
    const types = typesFilter.filter((type) => type.toLowerCase() !== STREAMS_TYPE);
    const wantsNone = typesFilter.length > 0 && types.length === 0;
    const wantsTypes = version < TYPES_SINCE && types.length > 0;
    const hasClassic = types.some((type) => type.toLowerCase() === CLASSIC_TYPE);
    const cannotFilter = statesFilter.length > 0 && version < STATES_SINCE;
    if (wantsNone || cannotFilter || (wantsTypes && !hasClassic))
      return { errorCode: 0, groups: [] };
    const answer = await link.request(
      'ListGroups',
      {
        ...(version >= STATES_SINCE ? { statesFilter } : {}),
        ...(version >= TYPES_SINCE ? { typesFilter: types } : {}),
      },
      version,
    );
    if (version >= TYPES_SINCE) return answer;
    return { ...answer, groups: answer.groups.map((g) => ({ ...g, groupType: CLASSIC_TYPE })) };
  }

  private async deleteGroups(
    request: IncomingRequest,
    { groupsNames }: RequestOf<'DeleteGroups'>,
  ): Promise<ResponseInput<'DeleteGroups'>> {
    const { passOn } = this.parts;
    const ids = [...new Set(groupsNames)];
    const sides = await Promise.all(ids.map((id) => this.isStreamsGroup(id)));
    const there = ids.filter((_, at) => !sides[at]);
    const upstream =
      there.length === 0
        ? []
        : await passOn
            .link(request.connection)
            .request('DeleteGroups', { groupsNames: there }, request.apiVersion)
            .then(({ results }) => results);
    const ours = await Promise.all(
      ids.filter((_, at) => sides[at]).map((id) => this.deleteStreamsGroup(request, id)),
    );
    return { results: [...upstream, ...ours.flat()] };
  }

  /**
   * Our own state first, which says whether it may go; then its offsets upstream. If those cannot go now, the client
   * is told so: when it asks again the id is no streams group any more, and the request passes through.
   */
  private async deleteStreamsGroup(
    request: IncomingRequest,
    groupId: string,
  ): Promise<ResponseOf<'DeleteGroups'>['results']> {
    const { coordinator, placeholders, pool } = this.parts;
    const deleteHere = async () =>
      answerLocally(this.localHandler('DeleteGroups'), 'DeleteGroups', request, {
        groupsNames: [groupId],
      });
    const { state } = await coordinator().streamsGroup(groupId);
    if (state !== 'Empty') return (await deleteHere()).results;
    return placeholders.whileAway(groupId, async () => {
      const { results } = await deleteHere();
      if (results.some((result) => result.errorCode !== 0)) return results;
      const connection = await pool.node(await pool.coordinatorId(groupId));
      const answer = await connection.request('DeleteGroups', { groupsNames: [groupId] });
      return answer.results.map((result) =>
        GONE.includes(result.errorCode) ? { ...result, errorCode: 0, errorMessage: null } : result,
      );
    });
  }
}
