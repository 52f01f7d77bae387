import { decodeBody } from '../server/answering.ts';
import type { Answer, Handler, IncomingRequest } from '../server/dispatch.ts';
import type { ApiName, RequestInput, RequestOf, ResponseInput, ResponseOf } from '../wire/apis.ts';
import { apis } from '../wire/apis.ts';
import { encodeResponseFrame } from '../wire/headers.ts';
import { answerLocally } from './local-answer.ts';
import type { PassOn } from './pass-on.ts';

export type ConfigSplitParts = {
  readonly passOn: PassOn;
  /** The handlers that answer the local part, by API key. */
  readonly local: ReadonlyMap<number, Handler>;
};

const BROKER_RESOURCE = 4;
const CLIENT_METRICS_RESOURCE = 16;
const GROUP_RESOURCE = 32;
const RESOURCE_TYPES_SINCE = 1;

/**
 * Where the names of settings begin that are kept here, by type of resource. A group's other settings are those of the
 * cluster's own consumer and share groups, a broker's others are the broker's.
 */
const OUR_NAMES: ReadonlyMap<number, string> = new Map([
  [GROUP_RESOURCE, 'streams.'],
  [BROKER_RESOURCE, 'group.streams.'],
]);

type Resource = { readonly resourceType: number; readonly resourceName: string };

function isOurs({ resourceType }: Resource, name: string): boolean {
  const beginning = OUR_NAMES.get(resourceType);
  return beginning !== undefined && name.startsWith(beginning);
}

function idOf({ resourceType, resourceName }: Resource): string {
  return `${resourceType} ${resourceName}`;
}

type AlterApi = 'IncrementalAlterConfigs' | 'AlterConfigs';
type Altered = ResponseOf<AlterApi>['responses'][number];
type Change = { readonly name: string };
type ToAlter<C extends Change> = Resource & { readonly configs: readonly C[] };
type AlterBody<C extends Change> = {
  readonly resources: readonly ToAlter<C>[];
  readonly validateOnly: boolean;
};

/** Carries out changes on one side. */
type Alter<C extends Change> = (body: AlterBody<C>) => Promise<readonly Altered[]>;

type Described = ResponseOf<'DescribeConfigs'>['results'][number];
type DescribeBody = RequestOf<'DescribeConfigs'>;
type Asked = DescribeBody['resources'][number];

/**
 * Handlers of the APIs of settings: those of streams groups, and what brokers give to groups that set nothing, are kept
 * here; all others are the cluster's. A resource is split by the names of its settings; a request that falls to the
 * cluster whole goes there whole.
 *
 * Source: wire.md 4.4; records-and-configs 7, 8, GC-6.
 */
export class ConfigSplits {
  private readonly parts: ConfigSplitParts;

  constructor(parts: ConfigSplitParts) {
    this.parts = parts;
  }

  /** By API key. */
  handlers(): ReadonlyMap<number, Handler> {
    return new Map([
      this.answering('DescribeConfigs', isAnyOfOurs, (request, body) =>
        this.describe(request, body),
      ),
      this.answering('IncrementalAlterConfigs', hasAnyOfOurs, async (request, body) => ({
        responses: await alterBoth(body, this.sides('IncrementalAlterConfigs', request)),
      })),
      this.answering('AlterConfigs', hasAnyOfOurs, async (request, body) => ({
        responses: await alterBoth(body, this.sides('AlterConfigs', request)),
      })),
      this.answering(
        'ListConfigResources',
        () => true,
        (request, body) => this.list(request, body),
      ),
    ]);
  }

  private answering<N extends ApiName>(
    name: N,
    concernsUs: (body: RequestOf<N>) => boolean,
    answer: (request: IncomingRequest, body: RequestOf<N>) => Promise<ResponseInput<N>>,
  ): readonly [number, Handler] {
    const { passOn } = this.parts;
    const handle = async (request: IncomingRequest): Promise<Answer> => {
      const { apiVersion, correlationId } = request;
      const body = decodeBody(name, request);
      if (!concernsUs(body)) return passOn.forwarded(request);
      return encodeResponseFrame(name, apiVersion, correlationId, await answer(request, body));
    };
    return [apis[name].key, (request) => passOn.inOrder(request, () => handle(request))];
  }

  private localHandler(name: ApiName): Handler {
    const handler = this.parts.local.get(apis[name].key);
    if (handler === undefined) throw new Error(`No handler here for ${name}`);
    return handler;
  }

  private sides<N extends AlterApi>(name: N, request: IncomingRequest): Sides<ChangeOf<N>> {
    const link = this.parts.passOn.link(request.connection);
    // What is asked of either side is a part of what was asked here, in the same version.
    const asked = (body: AlterBody<ChangeOf<N>>) => body as RequestInput<N>;
    return {
      here: async (body) =>
        (await answerLocally(this.localHandler(name), name, request, asked(body))).responses,
      there: async (body) => (await link.request(name, asked(body), request.apiVersion)).responses,
    };
  }

  private async describe(
    request: IncomingRequest,
    body: DescribeBody,
  ): Promise<ResponseInput<'DescribeConfigs'>> {
    const name = 'DescribeConfigs';
    const parts = body.resources.map((asked) => [keysHere(asked), keysThere(asked)] as const);
    const part = (side: 0 | 1): DescribeBody => ({
      ...body,
      resources: body.resources.flatMap((asked, at) => {
        const configurationKeys = parts[at]?.[side];
        return configurationKeys === undefined ? [] : [{ ...asked, configurationKeys }];
      }),
    });
    const [here, there] = [part(0), part(1)];
    const link = this.parts.passOn.link(request.connection);
    const [ours, theirs] = await Promise.all([
      answerLocally(this.localHandler(name), name, request, here).then(({ results }) => results),
      there.resources.length === 0
        ? []
        : link.request(name, there, request.apiVersion).then(({ results }) => results),
    ]);
    const nextOf = [inTurn(ours), inTurn(theirs)] as const;
    const answerOf = (side: 0 | 1, asked: Asked, at: number) =>
      parts[at]?.[side] === undefined ? undefined : nextOf[side](asked);
    return {
      results: body.resources.flatMap((asked, at) =>
        joined(asked, answerOf(0, asked, at), answerOf(1, asked, at)),
      ),
    };
  }

  /** Groups that have settings on either side, and the cluster's other resources; in version 0 client metrics alone. */
  private async list(
    request: IncomingRequest,
    { resourceTypes }: RequestOf<'ListConfigResources'>,
  ): Promise<ResponseInput<'ListConfigResources'>> {
    const name = 'ListConfigResources';
    const { apiVersion, connection } = request;
    const wantsAll = resourceTypes.length === 0;
    const wantsGroups =
      apiVersion >= RESOURCE_TYPES_SINCE && (wantsAll || resourceTypes.includes(GROUP_RESOURCE));
    const ours = wantsGroups
      ? await answerLocally(this.localHandler(name), name, request, {
          resourceTypes: [GROUP_RESOURCE],
        })
      : { errorCode: 0, configResources: [] };
    const link = this.parts.passOn.link(connection);
    const range = (await link.versions()).ranges.get(apis[name].key);
    if (ours.errorCode !== 0 || range === undefined) return ours;
    const version = Math.min(range.max, apiVersion);
    const isAsked =
      version >= RESOURCE_TYPES_SINCE ||
      wantsAll ||
      resourceTypes.includes(CLIENT_METRICS_RESOURCE);
    if (!isAsked) return ours;
    const asked = version >= RESOURCE_TYPES_SINCE ? { resourceTypes } : {};
    const theirs = await link.request(name, asked, version);
    const known = new Set(ours.configResources.map(idOf));
    return {
      errorCode: theirs.errorCode,
      configResources: [
        ...theirs.configResources.filter((one) => !known.has(idOf(one))),
        ...ours.configResources,
      ],
    };
  }
}

type ChangeOf<N extends AlterApi> = RequestOf<N>['resources'][number]['configs'][number];
type Sides<C extends Change> = { readonly here: Alter<C>; readonly there: Alter<C> };

function hasAnyOfOurs({ resources }: AlterBody<Change>): boolean {
  return resources.some(
    (resource) =>
      (resource.resourceType === GROUP_RESOURCE && resource.configs.length === 0) ||
      resource.configs.some(({ name }) => isOurs(resource, name)),
  );
}

function isAnyOfOurs({ resources }: DescribeBody): boolean {
  return resources.some((asked) => keysHere(asked) !== undefined);
}

/** Hands out answers by resource, of one that was asked for several times the first one first. */
function inTurn(answers: readonly Described[]): (asked: Resource) => Described | undefined {
  const left = new Map<string, Described[]>();
  for (const one of answers) {
    const others = left.get(idOf(one));
    if (others === undefined) left.set(idOf(one), [one]);
    else others.push(one);
  }
  return (asked) => left.get(idOf(asked))?.shift();
}

/** The names to ask for here; null: all; undefined: none. */
function keysHere(asked: Asked): readonly string[] | null | undefined {
  const { resourceType, configurationKeys: keys } = asked;
  if (!OUR_NAMES.has(resourceType)) return undefined;
  if (keys === null || keys.length === 0) return null;
  const ours = keys.filter((name) => isOurs(asked, name));
  return ours.length === 0 ? undefined : ours;
}

/** The names to ask for upstream, in the same words. */
function keysThere(asked: Asked): readonly string[] | null | undefined {
  const { configurationKeys: keys } = asked;
  if (keys === null || keys.length === 0) return keys;
  const theirs = keys.filter((name) => !isOurs(asked, name));
  return theirs.length === 0 ? undefined : theirs;
}

/**
 * What is shown of a resource. A cluster that knows no settings of groups, or has no such broker, refuses its part: a
 * group's settings here are shown all the same, a broker that is not there has none.
 */
function joined(
  asked: Asked,
  ours: Described | undefined,
  theirs: Described | undefined,
): readonly Described[] {
  if (ours === undefined) return theirs === undefined ? [] : [theirs];
  if (ours.errorCode !== 0 || theirs === undefined) return [ours];
  const own = ours.configs.filter(({ name }) => isOurs(asked, name));
  if (theirs.errorCode !== 0) {
    return asked.resourceType === BROKER_RESOURCE ? [theirs] : [{ ...ours, configs: own }];
  }
  const others = theirs.configs.filter(({ name }) => !isOurs(asked, name));
  return [{ ...ours, configs: [...others, ...own] }];
}

/**
 * Changes each resource on the sides that its settings belong to. One with settings on both is judged upstream before it
 * is changed here, and changed upstream last: what either side refuses changes nothing. Only a cluster that takes back
 * what it allowed a moment ago leaves our part changed, and then says so. One that is named twice goes here whole, where
 * it is refused for that: each side would see it once (GC-2).
 *
 * @returns an answer for each resource: the first error met, if any.
 */
async function alterBoth<C extends Change>(
  { resources, validateOnly }: AlterBody<C>,
  { here, there }: Sides<C>,
): Promise<readonly Altered[]> {
  const refused = new Map<string, Altered>();
  const done = new Map<string, Altered>();
  const take = async (side: Alter<C>, parts: readonly ToAlter<C>[], justJudge: boolean) => {
    const open = parts.filter((one) => !refused.has(idOf(one)));
    if (open.length === 0) return;
    for (const answer of await side({ resources: open, validateOnly: justJudge })) {
      (answer.errorCode === 0 ? done : refused).set(idOf(answer), answer);
    }
  };
  const repeated = repeatedIds(resources);
  const isRepeated = (resource: Resource) => repeated.has(idOf(resource));
  const once = resources.filter((resource) => !isRepeated(resource));
  const ours = [
    ...resources.filter(isRepeated),
    ...once.flatMap((resource) => partOf(resource, true)),
  ];
  const theirs = once.flatMap((resource) => partOf(resource, false));
  const oursById = new Set(ours.map(idOf));
  const onBoth = theirs.filter((one) => oursById.has(idOf(one)));
  await take(there, onBoth, true);
  await take(here, ours, validateOnly);
  await take(there, theirs, validateOnly);
  return resources.flatMap((resource) => {
    const answer = refused.get(idOf(resource)) ?? done.get(idOf(resource));
    return answer === undefined ? [] : [answer];
  });
}

function repeatedIds(resources: readonly Resource[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const id of resources.map(idOf)) (seen.has(id) ? repeated : seen).add(id);
  return repeated;
}

/** The part of a resource that falls to a side, if any. A group without any change is judged here. */
function partOf<C extends Change>(resource: ToAlter<C>, wantsOurs: boolean): readonly ToAlter<C>[] {
  const { resourceType, configs } = resource;
  const part = configs.filter(({ name }) => isOurs(resource, name) === wantsOurs);
  const isBare = configs.length === 0 && (resourceType === GROUP_RESOURCE) === wantsOurs;
  return part.length === 0 && !isBare ? [] : [{ ...resource, configs: part }];
}
