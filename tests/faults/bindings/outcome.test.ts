// The last write of a bind, its outcome, when the database fails at it: within the create limit it is tried again,
// whatever became of the first try; a credential is handed out only once its row is durable.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';
import {
  type FreezingProxy,
  startFreezingProxy,
} from '../../integration/storage/freezing-proxy.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import { ownPostgres } from '../../support/database.ts';
import { type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import type { BindingBody, OsbAnswer } from '../../support/platform.ts';
import type { Postgres } from '../../support/real-parts/postgres.ts';
import { until } from '../../support/until.ts';

interface NamedBinding {
  readonly instance: string;
  readonly binding: string;
}

describeWith(
  { ownPostgres: true, cluster: true },
  'an outcome that the database fails to store',
  () => {
    let postgres: Postgres;
    /** Between the broker and its database. */
    let line: FreezingProxy;
    let scene: Scene;
    let proxy: ClusterProxy;
    let instance: string;
    /** Past the line. */
    let ledger: LedgerEyes;

    beforeAll(async () => {
      postgres = await ownPostgres();
      line = await startFreezingProxy(new Secret(postgres.url));
      scene = await openScene({
        database: { url: line.url, env: {}, drop: () => Promise.resolve() },
      });
      proxy = await openClusterProxy(scene.cluster);
      instance = await scene.attach({ kubeconfig: proxy.adminKubeconfig });
      ledger = openLedgerEyes(postgres.url);
    });

    afterEach(() => proxy.behave());

    afterAll(async () => {
      await proxy.stop();
      await scene.close();
      await ledger.close();
      await line.stop();
      await postgres.stop();
    });

    /** A bind whose token is asked for and waits. */
    async function bindOnHold(ids: NamedBinding) {
      const held = proxy.misbehave({ on: /POST .*\/token$/, act: { kind: 'hold' }, times: 1 });
      const binding = scene.platform.bind(ids);
      await until({
        what: 'the token is asked for',
        limitMs: 10_000,
        isSo: () => held.seen() === 1,
      });
      return { binding, release: () => held.end() };
    }

    /** A bind that waits in the middle of storing its outcome, until the row is let go. */
    async function bindAtItsOutcome(ids: NamedBinding) {
      const { binding, release } = await bindOnHold(ids);
      const lock = new pg.Client({ connectionString: postgres.url });
      await lock.connect();
      await lock.query('begin');
      await lock.query('select 1 from grants where binding_id = $1 for update', [ids.binding]);
      release();
      let waiting: number | undefined;
      await until({
        what: 'the outcome waits for its row',
        limitMs: 10_000,
        isSo: async () => {
          const [row] = await ledger.sql<{ pid: number }>(
            `select pid from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%update grants set account_uid%'`,
          );
          waiting = row?.pid;
          return row !== undefined;
        },
      });
      return {
        binding,
        /** Of the session that waits. */
        pid: waiting ?? 0,
        letGo: async () => {
          await lock.query('commit');
          await lock.end();
        },
      };
    }

    async function expectLiveOnce(
      ids: NamedBinding,
      answer: OsbAnswer<BindingBody>,
    ): Promise<void> {
      expect(answer.status).toBe(201);
      expect(await scene.eyes.statusWith(answer.body.credentials.token)).toBe(200);
      const grants = await ledger.sql('select 1 from grants where binding_id = $1', [ids.binding]);
      expect(grants).toHaveLength(1);
      expect(await scene.objects(ids.binding)).toHaveLength(3);
      const fetched = await scene.platform.getBinding(ids);
      expect(fetched.body.credentials).toEqual(answer.body.credentials);
      expect((await scene.platform.unbind(ids)).status).toBe(200);
    }

    it('because it restarts: it is stored once the database is there again, 201', async () => {
      const ids = { instance, binding: newId('restarted') };
      const { binding, release } = await bindOnHold(ids);
      await postgres.kill();
      release();
      await until({
        what: 'the broker has tried in vain',
        limitMs: 10_000,
        isSo: () => scene.broker.log().some(({ msg }) => msg === 'an outcome could not be stored'),
      });
      await postgres.restart();
      await expectLiveOnce(ids, await binding);
    });

    it('because the connection is cut in mid-statement: it is stored by the next try, 201', async () => {
      const ids = { instance, binding: newId('cut') };
      const { binding, pid, letGo } = await bindAtItsOutcome(ids);
      await ledger.sql('select pg_terminate_backend($1)', [pid]);
      await letGo();
      await expectLiveOnce(ids, await binding);
    });

    it('of which only the acknowledgement is lost: the next try finds it stored, 201', async () => {
      const ids = { instance, binding: newId('unacknowledged') };
      const { binding, letGo } = await bindAtItsOutcome(ids);
      line.freeze();
      await letGo();
      await until({
        what: 'the outcome is committed',
        limitMs: 10_000,
        isSo: async () => {
          const text = 'select 1 from grants where binding_id = $1 and sealed_token is not null';
          return (await ledger.sql(text, [ids.binding])).length === 1;
        },
      });
      line.thaw();
      await expectLiveOnce(ids, await binding);
    });

    it('of which only the acknowledgement is lost, and a DELETE comes before the next try: CE, nothing left', async () => {
      const ids = { instance, binding: newId('deleted') };
      const { binding, letGo } = await bindAtItsOutcome(ids);
      line.freeze();
      await letGo();
      const order = `with ordered as (
      update grants set revoking_since = now(), next_try_at = now() where binding_id = $1
        and sealed_token is not null returning id
    ) update bindings set deleted_at = now() from ordered where current_grant = ordered.id
    returning bindings.id`;
      await until({
        what: 'the order to end it is committed',
        limitMs: 10_000,
        isSo: async () => (await ledger.sql(order, [ids.binding])).length === 1,
      });
      line.thaw();
      expect(await binding).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } });
      expect(await scene.objects(ids.binding)).toEqual([]);
      expect((await scene.platform.getBinding(ids)).status).toBe(404);
    });
  },
);
