// The sweep for what has our mark and no row: what it removes, what it leaves, and whom it does not wait for.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { finishRevocations } from '../../../src/background/finish-revocations.ts';
import { removeOrphanGrants } from '../../../src/background/remove-orphan-grants.ts';
import { ClusterClient } from '../../../src/kubernetes/cluster-client.ts';
import { makeMark } from '../../../src/kubernetes/grant-mark.ts';
import { readKubeconfig } from '../../../src/kubernetes/read-kubeconfig.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import {
  plantGrant,
  type PlantOrder,
  type Sweeper,
  sweeperOf,
} from '../../support/orphan-sweep.ts';
import { startTestSandbox, type TestCluster, type TestSandbox } from '../../support/sandbox.ts';
import { newId, openScene, type Scene } from '../bindings/scene.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describeOnEngines('a sweep for orphans', {}, (engine) => {
  let sandbox: TestSandbox;
  let cluster: TestCluster;
  let scene: Scene;
  let sweeper: Sweeper;
  let client: ClusterClient;
  let instance: string;

  beforeAll(async () => {
    sandbox = await startTestSandbox();
    cluster = sandbox.openCluster('swept');
    scene = await openScene({ engine, cluster });
    sweeper = sweeperOf(scene.broker.composition.broker, scene.ledger);
    client = new ClusterClient(readKubeconfig(cluster.adminKubeconfig));
    instance = await scene.attach();
    await sweeper.makeDue();
  });

  beforeEach(async () => {
    await scene.ledger.sql('delete from suspected_restores');
  });

  afterEach(async () => {
    for (const { kind, metadata } of await scene.objects()) {
      const folder = kind === 'ServiceAccount' ? `/api/v1/namespaces/${metadata.namespace}` : RBAC;
      await scene.eyes.call('DELETE', `${folder}/${kind.toLowerCase()}s/${metadata.name}`);
    }
  });

  afterAll(async () => {
    await client.close();
    await scene.close();
    await sandbox.stop();
  });

  const RBAC = '/apis/rbac.authorization.k8s.io/v1';

  const ago = (ms: number): Date => new Date(sweeper.now().getTime() - ms);
  const plant = (order: PlantOrder) => plantGrant(client, sweeper.broker, order);
  const events = (event: string, grant: string): number =>
    scene.broker.log().filter((line) => line['event'] === event && line['grant'] === grant).length;

  it('KEB defect 33: removes what has a valid mark, no row, and is more than a day old', async () => {
    const orphan = await plant({ markedAt: ago(25 * HOUR_MS) });
    expect(await scene.eyes.statusWith(orphan.token.reveal())).toBe(200);
    expect(await sweeper.sweep()).toEqual({
      scanned: 1,
      orphans: 1,
      failed: 0,
      reopened: 0,
      reported: 0,
      heldBack: 0,
    });
    expect(await scene.objects()).toEqual([]);
    expect([401, 403]).toContain(await scene.eyes.statusWith(orphan.token.reveal()));
    expect(events('orphan-removed', orphan.name)).toBe(1);
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 0, failed: 0 });
  });

  it('leaves what is bound, and what was unbound does not come up again', async () => {
    const ids = { instance, binding: newId('bound') };
    const bound = await scene.platform.bind(ids);
    const before = await scene.objects(ids.binding);
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 0, reported: 0 });
    expect(await scene.objects(ids.binding)).toEqual(before);
    expect(await scene.eyes.statusWith(bound.body.credentials.token)).toBe(200);
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 0, reopened: 0 });
  });

  it('waits with what is not yet five minutes old', async () => {
    await plant({ markedAt: ago(4 * MINUTE_MS) });
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 0, heldBack: 0 });
    expect(await scene.objects()).toHaveLength(3);
  });

  it('only reports what has our labels and no valid mark, or a mark of something else', async () => {
    const { name } = await plant({ markedAt: ago(25 * HOUR_MS), name: 'kyma-binding-original' });
    const marker = sweeper.broker.marker();
    const copied = makeMark(marker, { name, issuedAt: ago(25 * HOUR_MS) });
    await plant({ markedAt: ago(0), mark: copied });
    await plant({ markedAt: ago(0), mark: copied.replace(/^\d+/, '1') });
    await plant({ markedAt: ago(0), mark: `${ago(-1e12).getTime()}.${'A'.repeat(43)}` });
    const foreignMark = makeMark(
      { ...marker, installation: 'other' },
      { name: 'x', issuedAt: ago(0) },
    );
    await plant({ markedAt: ago(0), name: 'x', mark: foreignMark });
    const others = (await scene.objects()).filter(({ metadata }) => metadata.name !== name);
    expect(await sweeper.sweep()).toMatchObject({ orphans: 1, reported: 12, heldBack: 0 });
    expect(await scene.objects()).toEqual(others);
    const told = scene.broker.log().filter((line) => line['event'] === 'objects-left-alone');
    expect(told.at(-1)).toMatchObject({ unmarked: 12, foreign: 0 });
    expect(told.at(-1)?.['samples']).toHaveLength(10);
  });

  it('makes a grant unfinished again that ended without an outcome and has something left', async () => {
    const ids = { instance, binding: newId('left') };
    await scene.platform.bind(ids);
    await scene.platform.unbind(ids);
    const [grant] = await scene.ledger.sql<{ name: string; intended_at: Date }>(
      `update grants set account_uid = null, role_uid = null, role_binding_uid = null,
        issued_at = null, expires_at = null, next_try_at = null
      where binding_id = $1 returning name, intended_at`,
      [ids.binding],
    );
    const { name = '', intended_at: markedAt = ago(0) } = grant ?? {};
    await plant({ name, markedAt });
    expect(await sweeper.sweep()).toMatchObject({ orphans: 0, reopened: 1 });
    expect(events('grant-reopened', name)).toBe(1);
    const { signal } = new AbortController();
    await finishRevocations(sweeper.broker, { signal });
    expect(await scene.objects()).toEqual([]);
    const rows = await scene.ledger.sql(
      'select ended_at is null as open from grants where name = $1',
      [name],
    );
    expect(rows).toEqual([{ open: false }]);
  });

  it.each([
    ['declared the cluster gone, which came back', 'cluster_gone_at = now()'],
    ['was deleted, its access with it', 'deleted_at = now(), sealed_access = null'],
  ])(
    'removes what is left of a grant by way of another instance than its own, which %s',
    async (_, change) => {
      const former = await scene.attach();
      const ids = { instance: former, binding: newId('former') };
      await scene.platform.bind(ids);
      await scene.platform.unbind(ids);
      const [grant] = await scene.ledger.sql<{ name: string; intended_at: Date }>(
        `update grants set account_uid = null, role_uid = null, role_binding_uid = null,
        issued_at = null, expires_at = null, next_try_at = null
      where binding_id = $1 returning name, intended_at`,
        [ids.binding],
      );
      await scene.ledger.sql(`update instances set ${change} where id = $1`, [former]);
      const { name = '', intended_at: markedAt = ago(0) } = grant ?? {};
      const { token } = await plant({ name, markedAt });
      await sweeper.sweep();
      const { signal } = new AbortController();
      await finishRevocations(sweeper.broker, { signal });
      expect(await scene.objects()).toEqual([]);
      expect([401, 403]).toContain(await scene.eyes.statusWith(token.reveal()));
      const rows = await scene.ledger.sql(
        'select ended_at is null as open, next_try_at from grants where name = $1',
        [name],
      );
      expect(rows).toEqual([{ open: false, next_try_at: null }]);
    },
  );

  it('removes what was live when its cluster was declared gone, once another instance leads to it', async () => {
    const former = await scene.attach();
    const ids = { instance: former, binding: newId('silent') };
    const bound = await scene.platform.bind(ids);
    await scene.ledger.sql('update instances set cluster_gone_at = now() where id = $1', [former]);
    expect((await scene.platform.unbind(ids)).status).toBe(200);
    expect(await scene.objects(ids.binding)).toHaveLength(3);
    expect(await sweeper.sweep()).toMatchObject({ orphans: 1, reopened: 0 });
    expect(await scene.objects()).toEqual([]);
    const { token } = bound.body.credentials;
    expect([401, 403]).toContain(await scene.eyes.statusWith(token));
  });

  it('removes what an older state of the cluster has brought back', async () => {
    const ids = { instance, binding: newId('back') };
    await scene.platform.bind(ids);
    await scene.platform.unbind(ids);
    const text = 'select name, intended_at from grants where binding_id = $1';
    const [grant] = await scene.ledger.sql<{ name: string; intended_at: Date }>(text, [
      ids.binding,
    ]);
    const { name = '', intended_at: markedAt = ago(0) } = grant ?? {};
    const { uids, token } = await plant({ name, markedAt });
    await scene.ledger.sql(
      'update grants set account_uid = $2, role_uid = $3, role_binding_uid = $4 where name = $1',
      [name, uids.account, uids.role, uids.roleBinding],
    );
    expect(await sweeper.sweep()).toMatchObject({ orphans: 1, reopened: 0, reported: 0 });
    expect(await scene.objects()).toEqual([]);
    expect([401, 403]).toContain(await scene.eyes.statusWith(token.reveal()));
  });

  it('leaves what has the name of a grant and another uid, or lies in another namespace', async () => {
    const ids = { instance, binding: newId('twin') };
    await scene.platform.bind(ids);
    const [account] = await scene.objects(ids.binding);
    const { name = '', annotations, labels } = account?.metadata ?? {};
    await scene.eyes.call('POST', '/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, annotations, labels },
    });
    const before = await scene.objects();
    expect(before).toHaveLength(4);
    expect(await sweeper.sweep()).toMatchObject({ orphans: 0, reopened: 0, reported: 1 });
    await scene.platform.unbind(ids);
    expect(await sweeper.sweep()).toMatchObject({ orphans: 0, reopened: 0, reported: 1 });
    await scene.ledger.sql(
      `update grants set account_uid = null, role_uid = null, role_binding_uid = null,
        issued_at = null, expires_at = null, next_try_at = null
      where name = $1`,
      [name],
    );
    expect(await sweeper.sweep()).toMatchObject({ orphans: 0, reopened: 0, reported: 1 });
    expect(await scene.objects()).toHaveLength(1);
  });

  it('removes nothing while a restore is suspected, though nothing shows it any more', async () => {
    await plant({ markedAt: ago(25 * HOUR_MS) });
    await scene.ledger.sql(
      'insert into suspected_restores (cluster_uid, suspected_at, grant_name) values ($1, $2, $3)',
      [cluster.uid, ago(HOUR_MS), 'gone meanwhile'],
    );
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1, orphans: 0, heldBack: 3 });
    expect(await scene.objects()).toHaveLength(3);
  });

  it('writes nothing when it is dry, and says what would be', async () => {
    await plant({ markedAt: ago(25 * HOUR_MS) });
    await plant({ markedAt: ago(26 * HOUR_MS) });
    const before = await scene.objects();
    const options = { isDryRun: true, everyCluster: true };
    await sweeper.makeDue();
    const ledger = await scene.ledger.dump();
    expect(await sweeper.sweep(options)).toMatchObject({ scanned: 1, orphans: 2, failed: 0 });
    await plant({ markedAt: ago(HOUR_MS) });
    expect(await sweeper.sweep(options)).toMatchObject({ orphans: 0, heldBack: 9 });
    expect(await scene.ledger.sql('select 1 from suspected_restores')).toEqual([]);
    expect((await scene.objects()).length).toBe(before.length + 3);
    const after = await scene.ledger.dump();
    expect({ ...after, instances: [] }).toEqual({ ...ledger, instances: [] });
  });

  it('goes to every cluster when it is asked to, and else to those whose turn it is', async () => {
    const { signal } = new AbortController();
    expect(await sweeper.sweep()).toMatchObject({ scanned: 1 });
    expect(await sweeper.sweep({ clusterUid: 'no such' })).toMatchObject({ scanned: 0 });
    const later = {
      ...sweeper.broker,
      clock: () => new Date(sweeper.now().getTime() + MINUTE_MS),
    };
    expect(await removeOrphanGrants(later, { signal })).toMatchObject({ scanned: 0 });
    const every = { signal, everyCluster: true };
    expect(await removeOrphanGrants(later, every)).toMatchObject({ scanned: 1 });
  });

  it('scans a cluster once, whoever tries at the same time', async () => {
    await sweeper.makeDue();
    const sweeps = await Promise.all(
      Array.from({ length: 5 }, () => sweeper.sweep({ clusterUid: 'none is made due' })),
    );
    expect(sweeps.map(({ scanned }) => scanned).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 1]);
  });
});
