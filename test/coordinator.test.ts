import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { systemClock } from '../src/clock.ts';
import { resolveConfig } from '../src/config/resolve.ts';
import { startCoordinator } from '../src/coordinator.ts';
import { FakeBroker } from './support/fake-broker.ts';
import { KeptLog } from './support/kept-log.ts';
import { openCoordinator } from './support/open-coordinator.ts';
import { until } from './support/open-server.ts';
import { besidesRe2 } from './support/re2.ts';
import { rejectionOf } from './support/rejection-of.ts';
import { inTemporaryFolder } from './support/temporary-folder.ts';

const REASON = new Error('Not wanted any more');

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

function configOf(folder: string, settings: Readonly<Record<string, string>> = {}) {
  const flags = { port: '0', 'admin.port': '0', 'data.dir': folder, 'assignor.threads': '1' };
  return resolveConfig({ flags: { ...flags, ...settings } }).config;
}

describe('startCoordinator()', () => {
  it('given up while upstream is silent, rejects with the reason and leaves nothing open', () =>
    inTemporaryFolder(async (folder) => {
      const sockets: Socket[] = [];
      const silent = createServer((socket) => sockets.push(socket.resume()));
      const bootstrap = `127.0.0.1:${await listening(silent)}`;
      const log = new KeptLog();
      const giveUp = new AbortController();
      const config = configOf(folder, { 'upstream.bootstrap.servers': bootstrap });
      const starting = rejectionOf(startCoordinator(config, { log, signal: giveUp.signal }));
      await until(() => sockets.some((socket) => socket.bytesRead > 0));
      giveUp.abort(REASON);
      expect(await starting).to.equal(REASON);
      await until(() => sockets.every((socket) => socket.destroyed));
      silent.close();
      expect(besidesRe2(log.told)).to.deep.equal([]);
      // The store is free again; but it is a gateway's.
      const refusal = await rejectionOf(openCoordinator(folder));
      expect(refusal).to.include({ name: 'StoreError', fault: 'wrongMode' });
    }));

  it('loads no shard before upstream is there: sessions would run out unheard (LOAD-1)', () =>
    inTemporaryFolder(async (folder) => {
      let connections = 0;
      const away = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      const bootstrap = `127.0.0.1:${await listening(away)}`;
      const log = new KeptLog();
      const giveUp = new AbortController();
      const config = configOf(folder, { 'upstream.bootstrap.servers': bootstrap });
      const starting = rejectionOf(startCoordinator(config, { log, signal: giveUp.signal }));
      await until(() => connections > 1);
      const debug = log.texts('debug');
      giveUp.abort(REASON);
      expect(await starting).to.equal(REASON);
      away.close();
      expect(debug).not.to.include('Shard loaded');
    }));

  it('in front of another cluster than its store goes with, rejects in one clear line', () =>
    inTemporaryFolder(async (folder) => {
      const startIn = async (clusterId: string) => {
        const broker = await FakeBroker.open({ nodeId: 1, clusterId, clock: systemClock });
        const { port } = broker;
        broker.on('Metadata', () => ({
          clusterId,
          controllerId: 1,
          brokers: [{ nodeId: 1, host: '127.0.0.1', port }],
        }));
        const config = configOf(folder, { 'upstream.bootstrap.servers': `127.0.0.1:${port}` });
        try {
          await (await startCoordinator(config, { log: new KeptLog() })).stop();
        } finally {
          await broker.stop();
        }
      };
      await startIn('one');
      expect(await rejectionOf(startIn('two'))).to.include({
        name: 'StoreError',
        fault: 'wrongCluster',
      });
      await startIn('one');
    }));

  it('given up while shards are being loaded, stops without a word about them', () =>
    inTemporaryFolder(async (folder) => {
      await (await openCoordinator(folder)).close();
      const log = new KeptLog();
      const signal = AbortSignal.abort(REASON);
      const starting = startCoordinator(configOf(folder), { log, signal });
      expect(await rejectionOf(starting)).to.equal(REASON);
      expect(besidesRe2(log.lines)).to.deep.equal([]);
      await (await openCoordinator(folder)).close();
    }));
});
