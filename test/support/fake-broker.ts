import type { Clock } from '../../actors/ports.ts';
import type { Feature } from '../../src/server/api-versions.ts';
import { apiVersionsHandler } from '../../src/server/api-versions.ts';
import type { Answer, Handler, IncomingRequest, VersionRange } from '../../src/server/dispatch.ts';
import { createDispatch } from '../../src/server/dispatch.ts';
import type { Listener } from '../../src/server/listener.ts';
import { openListener } from '../../src/server/listener.ts';
import type { ApiName, RequestOf, ResponseInput } from '../../src/wire/apis.ts';
import { apiByKey, apis, decodeRequest } from '../../src/wire/apis.ts';
import { encodeResponseFrame } from '../../src/wire/headers.ts';
import { Reader } from '../../src/wire/reader.ts';
import { KeptLog } from './kept-log.ts';
import { TEST_LIMITS } from './open-server.ts';

/** One request as the broker got it. */
export type Seen = {
  readonly name: string;
  readonly key: number;
  readonly version: number;
  readonly clientId: string;
  /** Decoded when it came; undefined where the codec has no such message. */
  readonly body: unknown;
  readonly connection: number;
  readonly correlationId: number;
};

type Script<N extends ApiName> = (
  body: RequestOf<N>,
  incoming: IncomingRequest,
) => ResponseInput<N> | Answer | Promise<ResponseInput<N> | Answer>;

export type FakeBrokerOptions = {
  readonly nodeId: number;
  readonly clusterId: string;
  readonly clock: Clock;
  readonly port?: number;
  /** What ApiVersions tells; else every key of the codec, but not the streams protocol. */
  readonly versions?: ReadonlyMap<number, VersionRange>;
  readonly features?: readonly Feature[];
};

/** Everything the codec knows but the streams protocol: a cluster that has never heard of it. */
export function versionsWithoutStreams(): Map<number, VersionRange> {
  const streams: readonly number[] = [88, 89, 93];
  return new Map(
    Object.values(apis)
      .filter(({ key }) => !streams.includes(key))
      .map(({ key, minVersion: min, maxVersion: max }) => [key, { min, max }]),
  );
}

/** A broker on a real socket that answers what a test scripts, and keeps what it was asked. */
export class FakeBroker {
  readonly nodeId: number;
  readonly log = new KeptLog();
  readonly seen: Seen[] = [];
  /** May be changed: the next connection is told. */
  versions: ReadonlyMap<number, VersionRange>;
  features: readonly Feature[];
  private readonly options: FakeBrokerOptions;
  private readonly scripts = new Map<number, Handler>();
  private listener: Listener | undefined;
  private lastPort = 0;

  private constructor(options: FakeBrokerOptions) {
    this.options = options;
    this.nodeId = options.nodeId;
    this.versions = options.versions ?? versionsWithoutStreams();
    this.features = options.features ?? [];
    const { clusterId } = options;
    const answer = apiVersionsHandler(() => ({
      versions: this.versions,
      features: this.features,
      featuresEpoch: 7n,
      clusterId,
    }));
    this.scripts.set(apis.ApiVersions.key, answer);
  }

  static async open(options: FakeBrokerOptions): Promise<FakeBroker> {
    const broker = new FakeBroker(options);
    await broker.listen(options.port ?? 0);
    return broker;
  }

  get port(): number {
    return this.lastPort;
  }

  /** Open connections. */
  get connections(): number {
    return this.listener?.connections ?? 0;
  }

  /** Says how an API is answered from now on. */
  on<N extends ApiName>(name: N, script: Script<N>): void {
    this.scripts.set(apis[name].key, async (incoming) => {
      const { apiVersion, correlationId, frame, bodyOffset } = incoming;
      const body = decodeRequest(name, apiVersion, new Reader(frame, bodyOffset));
      const answer = await script(body, incoming);
      const isReady =
        typeof answer === 'string' || Buffer.isBuffer(answer) || Array.isArray(answer);
      if (isReady) return answer as Answer;
      return encodeResponseFrame(name, apiVersion, correlationId, answer as ResponseInput<N>);
    });
  }

  /** Answers a key frame by frame. */
  onFrame(key: number, handler: Handler): void {
    this.scripts.set(key, handler);
  }

  /** What it was asked of one API, decoded. */
  asked<N extends ApiName>(name: N): readonly RequestOf<N>[] {
    return this.seen.filter((one) => one.name === name).map((one) => one.body as RequestOf<N>);
  }

  /** Cuts all connections and listens no longer. */
  async stop(): Promise<void> {
    const { listener } = this;
    this.listener = undefined;
    if (listener === undefined) return;
    // Nothing in a test's clock may keep a socket open.
    const stopped = listener.stop(0);
    this.kill?.();
    await stopped;
  }

  /** Listens again, on the port it had. */
  async restart(): Promise<void> {
    await this.listen(this.lastPort);
  }

  private kill: (() => void) | undefined;

  private async listen(port: number): Promise<void> {
    const timers: (() => void)[] = [];
    this.kill = () => {
      for (const fire of timers) fire();
    };
    const { clock } = this.options;
    this.listener = await openListener({
      host: '127.0.0.1',
      port,
      info: (bound) => ({ nodeId: this.nodeId, ...bound }),
      dispatch: createDispatch({
        handlers: new Map(),
        fallback: (request) => this.answer(request),
        versions: () => this.versions,
        log: this.log,
      }),
      limits: TEST_LIMITS,
      // A stop without grace is at once, whatever the test's clock says.
      clock: {
        nowMs: () => clock.nowMs(),
        monotonicMs: () => clock.monotonicMs(),
        soon: (callback) => clock.soon(callback),
        after: (delayMs, callback) => {
          if (delayMs === 0) timers.push(callback);
          return () => undefined;
        },
      },
      log: this.log,
    });
    this.lastPort = this.listener.port;
  }

  private answer(request: IncomingRequest): Answer | Promise<Answer> {
    const { apiKey: key, apiVersion: version, clientId, frame, bodyOffset, connection } = request;
    const api = apiByKey(key);
    const body =
      api?.request === undefined || version > api.maxVersion || version < api.minVersion
        ? undefined
        : decodeRequest(api.name, version, new Reader(Buffer.from(frame), bodyOffset));
    const { correlationId } = request;
    const name = api?.name ?? `key ${key}`;
    this.seen.push({
      name,
      key,
      version,
      clientId,
      body,
      connection: connection.id,
      correlationId,
    });
    const script = this.scripts.get(key);
    if (script === undefined) throw new Error(`Nobody said how ${name} is answered`);
    return script(request);
  }
}
