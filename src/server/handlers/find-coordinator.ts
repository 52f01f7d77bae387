import type { ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import type { IncomingRequest } from '../dispatch.ts';
import type { HandlerParts } from '../handler-parts.ts';

type Coordinator = NonNullable<ResponseInput<'FindCoordinator'>['coordinators']>[number];

const GROUP = 0;
const TRANSACTION = 1;
const SHARE = 2;
const FIRST_WITH_SHARE = 6;
const FIRST_WITH_KEYS = 4;

/**
 * Answers FindCoordinator: this node is that of every group. There are no transactions and no share groups here.
 *
 * Source: wire.md key 10; topology-and-admin 13, 18.
 */
export function answerFindCoordinator({
  identity,
  authorizer,
}: Pick<HandlerParts, 'identity' | 'authorizer'>): Answering<'FindCoordinator'> {
  return (request, incoming) => {
    const { apiVersion } = incoming;
    if (apiVersion >= FIRST_WITH_KEYS) {
      return {
        coordinators: request.coordinatorKeys.map((key) => find(key, request.keyType, incoming)),
      };
    }
    const {
      errorCode: code,
      errorMessage,
      nodeId,
      host,
      port,
    } = find(request.key, request.keyType, incoming);
    return { errorCode: code, errorMessage, nodeId, host, port };
  };

  function find(key: string, keyType: number, incoming: IncomingRequest): Coordinator {
    const { connection, apiVersion } = incoming;
    switch (keyType) {
      case GROUP: {
        if (!authorizer.allows(connection.principal, 'DESCRIBE', 'GROUP', key)) {
          return nowhere(key, 'GROUP_AUTHORIZATION_FAILED', null);
        }
        const { host, port } = connection.listener;
        return { key, nodeId: identity.nodeId, host, port, errorCode: 0, errorMessage: '' };
      }
      case TRANSACTION:
        return nowhere(
          key,
          'COORDINATOR_NOT_AVAILABLE',
          'Transactions need a cluster: see --upstream',
        );
      case SHARE:
        return apiVersion >= FIRST_WITH_SHARE && isShareKey(key)
          ? nowhere(key, 'COORDINATOR_NOT_AVAILABLE', 'Share groups need a cluster: see --upstream')
          : nowhere(key, 'INVALID_REQUEST', '');
      default: {
        const text = `Cannot find coordinator: key type ${keyType}, wanted 0, 1 or 2`;
        return nowhere(key, 'INVALID_REQUEST', text);
      }
    }
  }
}

function nowhere(key: string, error: WireErrorName, message: string | null): Coordinator {
  return {
    key,
    nodeId: -1,
    host: '',
    port: -1,
    errorCode: errorCode(error),
    errorMessage: message,
  };
}

/** A share key is a group, a topic id and a partition, joined by colons. */
function isShareKey(key: string): boolean {
  return /^.+:[\w-]{22}:\d+$/.test(key);
}
