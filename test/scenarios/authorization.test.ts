import { expect } from 'chai';
import { ScriptedMember } from '../../src/client/member.ts';
import type { Operation, ResourceType } from '../../src/server/authorize.ts';
import { closeCoordinators, createTopics, openCoordinator } from '../support/open-coordinator.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const topology = {
  epoch: 0,
  subtopologies: [
    {
      subtopologyId: '0',
      sourceTopics: ['in'],
      stateChangelogTopics: ['app-a-changelog', 'app-b-changelog'].map((name) => ({
        name,
        partitions: 0,
        replicationFactor: 0,
      })),
    },
  ],
};

describe('authorization', () => {
  afterEach(closeCoordinators);

  for (const grant of ['CREATE CLUSTER kafka-cluster', 'CREATE TOPIC app-b-changelog']) {
    it(`S67 A missing right to create topics is a status, not an error (C-3, ${grant})`, () =>
      inTemporaryFolder(async (folder) => {
        const withheld = new Set(['CREATE CLUSTER kafka-cluster', 'CREATE TOPIC app-b-changelog']);
        const allows = (_: string, operation: Operation, type: ResourceType, name: string) =>
          !withheld.has(`${operation} ${type} ${name}`);
        const coordinator = await openCoordinator(folder, {}, { authorizer: { allows } });
        const { connection, log } = coordinator;
        // The topic of the test itself is made by whoever may.
        withheld.delete('CREATE CLUSTER kafka-cluster');
        await createTopics(connection, { in: 2 });
        withheld.add('CREATE CLUSTER kafka-cluster');

        const member = new ScriptedMember(connection, { groupId: 'g', memberId: 'A', topology });
        const answers = [await member.join(), await member.beat(), await member.beat()];
        for (const { errorCode, status } of answers) {
          expect(errorCode).to.equal(0);
          expect(status).to.deep.equal([
            {
              statusCode: 3,
              statusDetail:
                'Internal topics are missing: app-a-changelog, app-b-changelog; ' +
                'CREATE is not authorized on app-b-changelog',
            },
          ]);
        }
        const tries = () => log.lines.filter(({ text }) => text === 'Creating internal topics');
        expect(tries()).to.deep.equal([]);

        withheld.delete(grant);
        let statuses = (await member.acknowledge()).status;
        for (let beats = 0; statuses?.length !== 0 && beats < 1_000; beats++) {
          statuses = (await member.acknowledge()).status;
        }
        expect(statuses).to.deep.equal([]);
        await member.acknowledge();
        expect(member.owned.activeTasks).to.deep.equal([
          { subtopologyId: '0', partitions: [0, 1] },
        ]);
        expect(tries()).to.have.length(1);
        await coordinator.close();
      }));
  }
});
