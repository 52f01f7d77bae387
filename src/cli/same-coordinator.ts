import type { StatusAnswer } from '../admin/views.ts';
import { AdminClient } from '../client/admin.ts';
import { ClientError } from '../client/client-error.ts';
import { formatHostPort, type HostPort, parseHostPort } from '../config/host-port.ts';
import { askAdmin } from './admin-http.ts';
import { CommandError, WRONGLY_ASKED } from './command-io.ts';

const CLIENT_ID = 'headgate-cli';
const BOOTSTRAP: HostPort = { host: '127.0.0.1', port: 9_092 };

/** Where to connect, when nothing else is said. */
export const BOOTSTRAP_TEXT = formatHostPort(BOOTSTRAP);

export type Places = {
  /** Where to connect; left out: where the admin server's coordinator is, and without one the usual place. */
  readonly bootstrap?: readonly HostPort[];
  readonly admin?: HostPort;
};

/**
 * Connects to the coordinator that is meant. Where an admin server is named, it is that server's: answers of two
 * coordinators do not go together.
 *
 * @throws {CommandError} the admin server cannot be asked, or the brokers at `bootstrap` are none of its coordinator.
 * @throws {ClientError} nobody answers.
 */
export async function connectTo({ bootstrap, admin }: Places): Promise<AdminClient> {
  if (admin === undefined) return connected(bootstrap ?? [BOOTSTRAP], '--bootstrap');
  const { addresses } = await askAdmin<StatusAnswer>(admin, '/status');
  if (bootstrap === undefined) return connected(addresses.flatMap(placeOf), '--admin');
  const client = await connected(bootstrap, '--bootstrap');
  try {
    const brokers = (await client.brokers()).map(formatHostPort);
    if (!brokers.some((broker) => addresses.includes(broker))) {
      throw new CommandError(differText({ bootstrap, admin, addresses, brokers }), {
        exitCode: WRONGLY_ASKED,
      });
    }
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

function placeOf(address: string): readonly HostPort[] {
  const place = parseHostPort(address);
  return place === undefined ? [] : [place];
}

async function connected(places: readonly HostPort[], flag: string): Promise<AdminClient> {
  try {
    return await AdminClient.connect(places, { clientId: CLIENT_ID });
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    throw new ClientError(cause.failure, `${cause.message} (${flag})`, { cause });
  }
}

function differText(seen: {
  readonly bootstrap: readonly HostPort[];
  readonly admin: HostPort;
  readonly addresses: readonly string[];
  readonly brokers: readonly string[];
}): string {
  const asked = seen.bootstrap.map(formatHostPort).join();
  const hint = 'name one of them, or those of one coordinator';
  return (
    `Cannot use --bootstrap ${asked} together with --admin ${formatHostPort(seen.admin)}: ` +
    `the one leads to ${seen.brokers.join() || 'no broker'}, the other is of ${seen.addresses.join()}: ${hint}`
  );
}
