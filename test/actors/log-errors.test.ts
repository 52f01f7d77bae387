import { expect } from 'chai';
import { errorOfLostWrite } from '../../actors/log-errors.ts';
import { LogError, type LogErrorName } from '../../actors/ports.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';

describe('errorOfLostWrite()', () => {
  const rows: Readonly<Record<LogErrorName, ErrorName>> = {
    NOT_ENOUGH_REPLICAS: 'COORDINATOR_NOT_AVAILABLE',
    REQUEST_TIMED_OUT: 'COORDINATOR_NOT_AVAILABLE',
    MESSAGE_TOO_LARGE: 'COORDINATOR_NOT_AVAILABLE',
    UNKNOWN_SERVER_ERROR: 'COORDINATOR_NOT_AVAILABLE',
    NOT_LEADER_OR_FOLLOWER: 'NOT_COORDINATOR',
    KAFKA_STORAGE_ERROR: 'NOT_COORDINATOR',
    NETWORK_EXCEPTION: 'COORDINATOR_LOAD_IN_PROGRESS',
  };

  it('makes an error that clients retry of every error of the log (records-and-configs 5.2)', () => {
    const told = Object.keys(rows).map((name) => [
      name,
      errorOfLostWrite(new LogError(name as LogErrorName, 'no')),
    ]);
    expect(Object.fromEntries(told)).to.deep.equal(rows);
    expect(errorOfLostWrite(new Error('no'))).to.equal('COORDINATOR_NOT_AVAILABLE');
  });
});
