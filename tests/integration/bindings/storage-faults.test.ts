// Faults of our own storage: a credential that was changed, moved or whose key is lost. They are told as what they are,
// and never as "there is no such binding" (docs/api.md, "Fetch a binding"; KEB defects 24, 25, 29, 42).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/needs.ts';
import { refusal, expectErrorBody } from './refusals.ts';
import { newId, openScene, type Scene } from './scene.ts';

describeWith({ postgres: true, cluster: true }, 'a fault of the storage', () => {
  let scene: Scene;
  let instance: string;

  beforeAll(async () => {
    scene = await openScene({ reconciles: false });
    instance = await scene.attach();
  });

  afterAll(() => scene.close());

  const GRANT_OF = 'id = (select current_grant from bindings where id = $1)';

  const damages = [
    [
      'KEB defect 42: a sealed token copied from another binding',
      `update grants set sealed_token = (
        select g.sealed_token from grants g join bindings b on b.current_grant = g.id where b.id = 'donor'
      ) where ${GRANT_OF}`,
    ],
    [
      'a sealed token with a changed character',
      `update grants set sealed_token = overlay(sealed_token placing
        case when substr(sealed_token, length(sealed_token) - 8, 1) = 'A' then 'B' else 'A' end
        from length(sealed_token) - 8 for 1) where ${GRANT_OF}`,
    ],
    [
      'KEB defect 29: a token whose sealing key is lost',
      `update grants set sealed_token = replace(sealed_token, 'v1.scene.', 'v1.lost.') where ${GRANT_OF}`,
    ],
    [
      'KEB defect 25: a column that is no sealed text',
      `update grants set sealed_token = '' where ${GRANT_OF}`,
    ],
  ] as const;

  it.each(damages)(
    '%s: 500 to a fetch and to a repeat, never 404; its DELETE and all others are served',
    async (_, damage) => {
      await scene.platform.bind({ instance, binding: 'donor' });
      const ids = { instance, binding: newId('damaged') };
      const bound = await scene.platform.bind(ids);
      await scene.ledger.sql(damage, [ids.binding]);

      for (const answer of [await scene.platform.getBinding(ids), await scene.platform.bind(ids)]) {
        expect(answer.status).toBe(500);
        expectErrorBody(answer);
      }
      expect((await scene.platform.bindingOperation(ids)).body).toMatchObject({
        state: 'succeeded',
      });

      const neighbour = { instance, binding: newId('neighbour') };
      expect((await scene.platform.bind(neighbour)).status).toBe(201);
      expect((await scene.platform.unbind(neighbour)).status).toBe(200);
      expect((await scene.platform.unbind(ids)).status).toBe(200);
      expect(await scene.objects(ids.binding)).toEqual([]);
      expect([401, 403]).toContain(await scene.eyes.statusWith(bound.body.credentials.token));
      expect((await scene.platform.getBinding(ids)).status).toBe(404);
    },
  );

  it('KEB defect 24: a fetch from an unknown instance is 404', async () => {
    const nowhere = { instance: newId('nowhere'), binding: 'b' };
    expect((await refusal(scene, () => scene.platform.getBinding(nowhere))).status).toBe(404);
  });

  it('an admin access that does not open: 500 to a bind that is new, nothing made, nothing blocked', async () => {
    const damaged = await scene.attach();
    const ids = { instance: damaged, binding: newId('no-access') };
    const kept = { instance: damaged, binding: newId('kept') };
    await scene.platform.bind(kept);
    const [row] = await scene.ledger.sql<{ sealed_access: string }>(
      'select sealed_access from instances where id = $1',
      [damaged],
    );
    const setAccess = (sealed: string) =>
      scene.ledger.sql('update instances set sealed_access = $2 where id = $1', [damaged, sealed]);
    await setAccess('v1.lost.AAAA.AAAA');

    for (let repeat = 0; repeat < 2; repeat += 1) {
      const answer = await scene.platform.bind(ids);
      expect(answer.status).toBe(500);
      expectErrorBody(answer);
    }
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect((await scene.platform.getBinding(ids)).status).toBe(404);
    // What lives is still handed out; it cannot be revoked, and that is not told as done.
    expect((await scene.platform.getBinding(kept)).status).toBe(200);
    const unbound = await scene.platform.unbind(kept);
    expect(unbound.status).toBe(503);
    expectErrorBody(unbound);

    await setAccess(row?.sealed_access ?? '');
    expect((await scene.platform.bind(ids)).status).toBe(201);
    expect((await scene.platform.unbind(kept)).status).toBe(200);
  });
});
