// Requests for one instance at the same time, over two replicas on one database: one decision at a time (OSB 2.17,
// Provisioning; docs/architecture.md, "The promises"; C61, C62, C103).
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestBroker } from '../../support/broker.ts';
import { describeWith } from '../../support/needs.ts';
import type { OsbAnswer, Platform } from '../../support/platform.ts';
import { newId, openScene, type Scene } from '../bindings/scene.ts';
import { operationEnded } from './waits.ts';

/** More than either replica has workers of the job engine, fewer than it has connections to the database. */
const REQUESTS = 12;

describeWith({ postgres: true, cluster: true }, 'requests at the same time', () => {
  let scene: Scene;
  let replica: TestBroker;
  let other: Platform;

  beforeAll(async () => {
    scene = await openScene();
    replica = await scene.openReplica();
    other = replica.platform;
  });

  afterAll(() => scene.close());

  async function together(
    send: (platform: Platform, at: number) => Promise<OsbAnswer>,
  ): Promise<readonly OsbAnswer[]> {
    const requests = Array.from({ length: REQUESTS }, (_, at) =>
      send(at % 2 === 0 ? scene.platform : other, at),
    );
    return await Promise.all(requests);
  }

  async function countOf(instance: string): Promise<{ instances: number; operations: number }> {
    const [row] = await scene.ledger.sql<{ instances: number; operations: number }>(
      `select count(distinct i.key)::int as instances, count(o.id)::int as operations
         from instances i join operations o on o.instance_key = i.key where i.id = $1`,
      [instance],
    );
    return row ?? { instances: 0, operations: 0 };
  }

  it('C61, C69: that are the same PUT make one instance, by one operation that all of them are told', async () => {
    const instance = newId('same');
    const answers = await together((platform) =>
      platform.provision({ instance }, scene.cluster.adminKubeconfig),
    );
    // Who comes once it is ready is told that there is nothing left to do.
    expect(answers.every(({ status }) => status === 202 || status === 200)).toBe(true);
    const accepted = answers.filter(({ status }) => status === 202);
    expect(new Set(accepted.map(({ body }) => body['operation'])).size).toBe(1);
    expect(await operationEnded(other, { instance })).toBe('succeeded');
    expect(await countOf(instance)).toEqual({ instances: 1, operations: 1 });
  });

  it('C62: that are different PUTs make one instance, and the others are conflicts', async () => {
    const instance = newId('different');
    const answers = await together((platform, at) =>
      platform.provision({ instance }, scene.cluster.adminKubeconfig, { name: `name-${at}` }),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([202, ...Array.from({ length: REQUESTS - 1 }, () => 409)]);
    const winner = answers.findIndex(({ status }) => status === 202);
    expect(await operationEnded(other, { instance })).toBe('succeeded');
    expect((await other.getInstance({ instance })).body['parameters']).toEqual({
      name: `name-${winner}`,
    });
    expect(await countOf(instance)).toEqual({ instances: 1, operations: 1 });
  });

  it('C103: that are DELETEs run one operation', async () => {
    const instance = await scene.attach();
    const answers = await together((platform) => platform.deprovision({ instance }));
    expect(answers.every(({ status }) => status === 202 || status === 410)).toBe(true);
    const accepted = answers.filter(({ status }) => status === 202);
    expect(new Set(accepted.map(({ body }) => body['operation'])).size).toBe(1);
    expect(await operationEnded(other, { instance })).toBe('succeeded');
    expect(await countOf(instance)).toEqual({ instances: 1, operations: 2 });
  });

  it('C148: that are PUTs and DELETEs leave no operation that nobody ends', async () => {
    const instance = newId('mixed');
    const { platform } = scene;
    await platform.provision({ instance }, scene.cluster.adminKubeconfig);
    const answers = await together((each, at) =>
      at % 3 === 0
        ? each.deprovision({ instance })
        : each.provision({ instance }, scene.cluster.adminKubeconfig),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await operationEnded(platform, { instance })).toBe('succeeded');
    const open = await scene.ledger.sql(
      `select o.id from operations o join instances i on i.key = o.instance_key
        where i.id = $1 and o.state = 'in progress'`,
      [instance],
    );
    expect(open).toEqual([]);
    const current = await scene.ledger.sql(
      'select key from instances where id = $1 and deleted_at is null',
      [instance],
    );
    expect(current.length).toBeLessThanOrEqual(1);
  });
});
