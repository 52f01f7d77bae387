import { decodeBody, reply } from '../server/answering.ts';
import type { Answer, ClientConnection, Handler, IncomingRequest } from '../server/dispatch.ts';
import { errorCode } from '../wire/errors.ts';
import { within } from '../within.ts';
import type { ClientLinkParts } from './client-link.ts';
import { ClientLink } from './client-link.ts';
import type { ClusterMap } from './cluster-map.ts';
import { readPrefix } from './request-prefix.ts';
import type { RewrittenApi } from './rewrite.ts';
import { rewriteAnswer } from './rewrite.ts';
import { UpstreamError, undefinedIfUnreachable } from './upstream-error.ts';

export type PassOnParts = ClientLinkParts & { readonly clusterMap: ClusterMap };

const LENGTH_BYTES = 4;
const BROKERS = 1;
const CONTROLLERS = 2;
const GROUP_KEY = 0;
const COORDINATOR_KEYS_SINCE = 4;
/** A member without a coordinator cannot beat; its session is 45 s by default, and a retry is to fit in twice. */
const FIND_COORDINATOR_PATIENCE_MS = 3_000;
const PRODUCE_FLEXIBLE_SINCE = 9;
const PRODUCE_TRANSACTIONAL_SINCE = 3;

/**
 * Handlers that pass requests on: as they are, with the addresses in the answer replaced, and the two that need a look
 * first. What fails upstream ends the client's connection; an answer is never made up.
 *
 * Source: wire.md 4.4, 4.5.
 */
export class PassOn {
  private readonly parts: PassOnParts;
  private readonly links = new WeakMap<ClientConnection, ClientLink>();

  constructor(parts: PassOnParts) {
    this.parts = parts;
  }

  /** The connection upstream that belongs to the client's. */
  link(client: ClientConnection): ClientLink {
    const known = this.links.get(client);
    if (known !== undefined) return known;
    const made = new ClientLink(client, this.parts);
    this.links.set(client, made);
    return made;
  }

  /** Turns a failure upstream into the end of the client's connection. */
  async closing(request: IncomingRequest, work: Promise<Answer>): Promise<Answer> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.link(request.connection).logFailure(request, error);
      return 'close';
    }
  }

  /**
   * For work that has to find something out before it passes a request on: the connection's later requests wait until
   * `passedOn` is called or the work is done, so that none overtakes it on the way upstream. The work needs a bound.
   */
  async inOrder(
    request: IncomingRequest,
    work: (passedOn: () => void) => Promise<Answer>,
  ): Promise<Answer> {
    let passedOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      passedOn = resolve;
    });
    request.connection.holdUntil(gate);
    return this.closing(request, work(passedOn).finally(passedOn));
  }

  /** Passes it on untouched, but for the correlation id. */
  opaque(): Handler {
    return (request) => this.closing(request, this.forwarded(request));
  }

  /** As {@link opaque}; `seen` is told when the answer is there. */
  observed(seen: () => void): Handler {
    return (request) =>
      this.closing(
        request,
        this.forwarded(request).then((answer) => {
          seen();
          return answer;
        }),
      );
  }

  /** Passes it on and puts our addresses into the answer. */
  rewritten(name: RewrittenApi): Handler {
    return (request) => this.closing(request, this.forwardedAndRewritten(name, request));
  }

  /** Produce: with acks 0 there is never an answer. */
  produce(): Handler {
    const answered = this.rewritten('Produce');
    return (request) => {
      if (acksOf(request) !== 0) return answered(request);
      const sent = this.link(request.connection).forwardUnanswered(request);
      return this.closing(
        request,
        sent.then(() => 'none'),
      );
    };
  }

  /** DescribeCluster: the controllers' own addresses are not shown (114); an unknown kind is refused (115). */
  describeCluster(): Handler {
    const answered = this.rewritten('DescribeCluster');
    return (request) => {
      const { endpointType } = decodeBody('DescribeCluster', request);
      if (endpointType === BROKERS) return answered(request);
      const error =
        endpointType === CONTROLLERS ? 'MISMATCHED_ENDPOINT_TYPE' : 'UNSUPPORTED_ENDPOINT_TYPE';
      return reply('DescribeCluster', request, {
        errorCode: errorCode(error),
        errorMessage: `Only endpoint type ${BROKERS} (brokers) is served here, seen: ${endpointType}`,
        endpointType,
      });
    };
  }

  /**
   * FindCoordinator. Of streams groups it is known that this very address serves them: their heartbeats are answered on
   * any. They are told so when no broker can be reached, or when upstream takes longer than a member should wait for it
   * (wire.md 4.9).
   */
  findCoordinator(isStreamsGroup: (groupId: string) => boolean): Handler {
    return (request) => {
      const known = this.coordinatorHere(request, isStreamsGroup);
      const forwarded = this.forwardedAndRewritten('FindCoordinator', request);
      return this.closing(
        request,
        known === undefined ? forwarded : this.orKnown(forwarded, known),
      );
    };
  }

  /** The answer to a FindCoordinator that asks for streams groups alone; undefined where more has to be known. */
  private coordinatorHere(
    request: IncomingRequest,
    isStreamsGroup: (groupId: string) => boolean,
  ): Answer | undefined {
    const body = decodeBody('FindCoordinator', request);
    const isBatched = request.apiVersion >= COORDINATOR_KEYS_SINCE;
    const keys = isBatched ? body.coordinatorKeys : [body.key];
    const here = this.addressHere(request.connection);
    if (here === undefined || body.keyType !== GROUP_KEY) return undefined;
    if (!keys.every(isStreamsGroup)) return undefined;
    const answer = isBatched ? { coordinators: keys.map((key) => ({ key, ...here })) } : here;
    return reply('FindCoordinator', request, answer);
  }

  /** Upstream's answer, or the one that is known if upstream is away or slow. */
  private async orKnown(forwarded: Promise<Answer>, known: Answer): Promise<Answer> {
    const answer = await within(this.parts.clock, FIND_COORDINATOR_PATIENCE_MS, forwarded).catch(
      undefinedIfUnreachable,
    );
    return answer ?? known;
  }

  private addressHere({ listener }: ClientConnection) {
    const { clusterMap } = this.parts;
    const nodeId = listener.nodeId === 'bootstrap' ? clusterMap.aliveIds[0] : listener.nodeId;
    if (nodeId === undefined) return undefined;
    const address = clusterMap.gatewayAddress(nodeId);
    return address === undefined ? undefined : { nodeId, ...address };
  }

  /** The answer as it came, with its length in front. */
  async forwarded(request: IncomingRequest): Promise<Answer> {
    return framed(await this.link(request.connection).forward(request));
  }

  private async forwardedAndRewritten(
    name: RewrittenApi,
    request: IncomingRequest,
  ): Promise<Answer> {
    const answer = await this.link(request.connection).forward(request);
    const { clusterMap } = this.parts;
    return (await rewriteAnswer(name, request.apiVersion, answer, clusterMap)) ?? framed(answer);
  }
}

/** An answer's frame with its length, in two pieces: the bytes are not copied. */
function framed(answer: Buffer): readonly Buffer[] {
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeInt32BE(answer.length, 0);
  return [length, answer];
}

/** Acks of a Produce request: behind the transactional id, which is nullable (wire.md 4.5). */
function acksOf(request: IncomingRequest): number {
  const { apiVersion } = request;
  return readPrefix(request, (reader) => {
    if (apiVersion >= PRODUCE_FLEXIBLE_SINCE) reader.compactNullableStr();
    else if (apiVersion >= PRODUCE_TRANSACTIONAL_SINCE) reader.nullableStr();
    return reader.i16();
  });
}
