// Expiry that is acted on: nobody asks, and the objects of what has expired are gone within seconds. The broker's own
// passes run, by a clock in the test's hand (KEB defect 32: half a day, or longer).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expireBindings } from '../../../src/background/expire-bindings.ts';
import { announceGrant } from '../../../src/storage/bindings.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { until } from '../../support/until.ts';
import { newId, openScene, type Scene } from '../bindings/scene.ts';

interface GrantRow {
  readonly id: string;
  readonly expires_at: Date;
  readonly revoking_since: Date | null;
  readonly ended_at: Date | null;
  readonly proof: string | null;
  readonly sealed_token: string | null;
  readonly next_try_at: Date | null;
}

describeOnEngines('what has expired', { cluster: true }, (engine) => {
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ engine });
    instance = await scene.attach();
  });

  afterAll(() => scene.close());

  const grantOf = async (binding: string): Promise<GrantRow> => {
    const [row] = await scene.ledger.sql<GrantRow>('select * from grants where binding_id = $1', [
      binding,
    ]);
    if (row === undefined) throw new Error(`no grant of ${binding}`);
    return row;
  };

  const ended = (binding: string) =>
    until({
      what: `the grant of ${binding} has ended`,
      limitMs: 10_000,
      isSo: async () => (await grantOf(binding)).ended_at !== null,
    });

  it('KEB defect 32: is gone from the cluster within seconds, without anybody asking', async () => {
    const binding = newId('expires');
    await scene.platform.bind({ instance, binding }, { expiration_seconds: 600 });
    const { expires_at: expiresAt } = await grantOf(binding);
    // To just before it, so that what follows is driven by the expiry and not by a pass that comes anyway.
    await scene.passTime((expiresAt.getTime() - scene.now().getTime()) / 1000 - 3);
    expect(await grantOf(binding)).toMatchObject({ revoking_since: null, ended_at: null });
    expect(await scene.objects(binding)).toHaveLength(3);

    await ended(binding);

    expect(await scene.objects(binding)).toEqual([]);
    const after = await grantOf(binding);
    expect(after).toMatchObject({ proof: 'objects-gone', sealed_token: null, next_try_at: null });
    const lateMs = (after.revoking_since?.getTime() ?? 0) - expiresAt.getTime();
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(4_000);
    expect((after.ended_at?.getTime() ?? 0) - expiresAt.getTime()).toBeLessThan(8_000);
    expect((await scene.platform.getBinding({ instance, binding })).status).toBe(404);
  });

  it('KEB defect 37: is listed no more as something that counts, though nobody deletes it', async () => {
    const full = await scene.attach();
    const bind = (seconds: number) =>
      scene.platform.bind(
        { instance: full, binding: newId('counts') },
        { expiration_seconds: seconds },
      );
    for (let at = 0; at < 10; at += 1) await bind(1800);
    expect((await bind(1800)).status).toBe(400);
    await scene.passTime(1_801);
    // The cluster's clock was not moved along: this one lives on.
    expect((await bind(7200)).headers.get('x-runtime-broker-bindings-remaining')).toBe('9');
    await until({
      what: 'all that expired has ended',
      limitMs: 10_000,
      isSo: async () =>
        (
          await scene.ledger.sql(
            `select g.id from grants g join instances i on i.key = g.instance_key
            where i.id = $1 and g.ended_at is null`,
            [full],
          )
        ).length === 1,
    });
  });

  it('an issue whose replica is lost is undone, though nobody asks for its binding again', async () => {
    const { broker } = scene.broker.composition;
    const [row] = await scene.ledger.sql<{ key: string }>(
      'select key from instances where id = $1',
      [instance],
    );
    const [grantId, binding] = [randomUUID(), newId('crashed')];
    const now = scene.now();
    await inTransaction(broker.db, (tx) =>
      announceGrant(tx, {
        binding: {
          instanceKey: row?.key ?? '',
          id: binding,
          expirationSeconds: undefined,
          createdBy: 'a replica that crashed',
        },
        grant: {
          id: grantId,
          name: `kyma-binding-${binding}`,
          namespace: 'kyma-system',
          replicaId: randomUUID(),
          intendedAt: now,
          issuingUntil: new Date(now.getTime() + 30_000),
        },
      }),
    );

    await ended(binding);

    const { ended_at: endedAt, next_try_at: nextTryAt, proof } = await grantOf(binding);
    expect(proof).toBe('objects-gone');
    // A writer that was only paused may still come: looked at once more when its lease and its calls are over.
    expect(nextTryAt?.getTime()).toBe(now.getTime() + 90_000);
    expect(endedAt?.getTime()).toBeLessThan(now.getTime() + 10_000);
    await scene.passTime(95);
    await until({
      what: 'it was looked at once more',
      limitMs: 10_000,
      isSo: async () => (await grantOf(binding)).next_try_at === null,
    });
  });

  it('a pass marks once, and then finds nothing', async () => {
    const { broker } = scene.broker.composition;
    await expireBindings(broker);
    expect(await expireBindings(broker)).toEqual({ expired: 0 });
  });
});
