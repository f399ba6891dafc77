// One of several sealing keys is not configured any more, or its id stands before other bytes: what was sealed under it
// fails, clearly and alone, until the key is back. A broker all of whose values lie under the
// lost key is the business of tests/faults/process/lost-key.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { tokenPlace } from '../../../src/storage/grants.ts';
import { markKeyPlace } from '../../../src/storage/installation.ts';
import { accessPlace } from '../../../src/storage/instances.ts';
import { type SealedPlace, Sealer, type SealingKey } from '../../../src/storage/sealing.ts';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { describeWith } from '../../support/needs.ts';
import type { BindingBody, OsbAnswer } from '../../support/platform.ts';
import { drawSealingKeys } from '../../integration/instances/attached-cluster.ts';
import { expectErrorBody } from '../../integration/bindings/refusals.ts';
import { newId, openScene, type Scene } from '../../integration/bindings/scene.ts';

const drawKey = (id: string): string => drawSealingKeys().replace(/^[^:]+/, id);

function keyOf(setting: string): SealingKey {
  const [id = '', key = ''] = setting.split(':');
  return { id, key: new Secret(Buffer.from(key, 'base64')) };
}

const TWO_WAYS = [
  { how: 'that is not configured any more', others: [] },
  { how: 'whose id stands before other bytes', others: [drawKey('second')] },
] as const;

describeWith({ postgres: true, cluster: true }, 'one of two sealing keys', () => {
  describe.each(TWO_WAYS)('$how', ({ others }) => {
    const second = drawKey('second');
    let scene: Scene;
    /** The scene's key, which everything else is sealed under. */
    let first: string;
    let broker: TestBroker;
    let instance: string;
    /** Its admin access is sealed under the second key. */
    let shut: string;
    const bound = new Map<string, OsbAnswer<BindingBody>>();

    const idsOf = (binding: string) => ({ instance, binding });
    const kept = () => ({ instance: shut, binding: 'kept' });

    beforeAll(async () => {
      scene = await openScene({ reconciles: false });
      first = scene.env['RUNTIME_BROKER_SEALING_KEYS'] ?? '';
      instance = await scene.attach();
      shut = await scene.attach();
      for (const binding of ['sealed', 'revoked', 'neighbour']) {
        bound.set(binding, await scene.platform.bind(idsOf(binding)));
      }
      bound.set('kept', await scene.platform.bind(kept()));
      for (const binding of ['sealed', 'revoked']) await resealToken(binding);
      await resealAccess();
      broker = await open([first, ...others]);
    });

    afterAll(async () => {
      await broker.stop();
      await scene.close();
    });

    const open = (keys: readonly string[]): Promise<TestBroker> =>
      startBroker({
        databaseUrl: scene.databaseUrl,
        env: { RUNTIME_BROKER_SEALING_KEYS: keys.join(',') },
        reconciles: false,
      });

    function underSecond(sealed: string, place: SealedPlace): string {
      return new Sealer([keyOf(second)]).seal(
        new Sealer([keyOf(first)]).open(sealed, place),
        place,
      );
    }

    async function resealToken(binding: string): Promise<void> {
      const [grant] = await scene.ledger.sql<{ id: string; sealed_token: string }>(
        'select g.id, g.sealed_token from grants g join bindings b on b.current_grant = g.id where b.id = $1',
        [binding],
      );
      const { id = '', sealed_token = '' } = grant ?? {};
      await scene.ledger.sql('update grants set sealed_token = $2 where id = $1', [
        id,
        underSecond(sealed_token, tokenPlace(id)),
      ]);
    }

    async function resealAccess(): Promise<void> {
      const [row] = await scene.ledger.sql<{ key: string; sealed_access: string }>(
        'select key, sealed_access from instances where id = $1',
        [shut],
      );
      const { key = '', sealed_access = '' } = row ?? {};
      await scene.ledger.sql('update instances set sealed_access = $2 where key = $1', [
        key,
        underSecond(sealed_access, accessPlace(key)),
      ]);
    }

    async function resealMarkKey(): Promise<void> {
      const [row] = await scene.ledger.sql<{ id: string; sealed_mark_key: string }>(
        'select id, sealed_mark_key from installation',
      );
      const { id = '', sealed_mark_key = '' } = row ?? {};
      await scene.ledger.sql('update installation set sealed_mark_key = $1', [
        underSecond(sealed_mark_key, markKeyPlace(id)),
      ]);
    }

    const loggedErrors = (): string =>
      JSON.stringify(broker.log().filter(({ level }) => level === 'error'));

    it('a token of it: 500 to a fetch and to a repeat, never 404, and operators read why', async () => {
      const ids = idsOf('sealed');
      for (const ask of ['getBinding', 'bind'] as const) {
        const answer = await broker.platform[ask](ids);
        expect(answer.status).toBe(500);
        expectErrorBody(answer);
      }
      expect((await broker.platform.bindingOperation(ids)).body).toMatchObject({
        state: 'succeeded',
      });
      expect(loggedErrors()).toContain('SealingError');
    });

    it('the other bindings of the instance go on, and the slots are counted', async () => {
      const neighbour = bound.get('neighbour');
      expect((await broker.platform.getBinding(idsOf('neighbour'))).body.credentials).toEqual(
        neighbour?.body.credentials,
      );
      const repeated = await broker.platform.bind(idsOf('neighbour'));
      expect(repeated).toMatchObject({ status: 200, body: neighbour?.body });
      const fresh = await broker.platform.bind(idsOf('fresh'));
      expect(fresh.status).toBe(201);
      // Three were there, two of which do not open.
      expect(fresh.headers.get('x-runtime-broker-bindings-remaining')).toBe('6');
      expect((await broker.platform.unbind(idsOf('fresh'))).status).toBe(200);
    });

    it('operators see all of them', async () => {
      const { status, body } = await broker.operator.bindings(`instance_id=${instance}`);
      expect(status).toBe(200);
      expect(body.data.map(({ bindingID, state }) => `${bindingID} ${state}`).sort()).toEqual([
        'neighbour live',
        'revoked live',
        'sealed live',
      ]);
    });

    it('a DELETE revokes without the token: by its objects', async () => {
      const ids = idsOf('revoked');
      expect((await broker.platform.unbind(ids)).status).toBe(200);
      expect(await scene.objects(ids.binding)).toEqual([]);
      const token = bound.get('revoked')?.body.credentials.token ?? '';
      expect([401, 403]).toContain(await scene.eyes.statusWith(token));
      expect(
        await scene.ledger.sql('select proof from grants where binding_id = $1', ['revoked']),
      ).toEqual([{ proof: 'objects-gone' }]);
      expect((await broker.platform.getBinding(ids)).status).toBe(404);
    });

    it('an admin access of it: a bind is 500, a DELETE 503 and stuck with that cause, and what lives is handed out', async () => {
      const ids = { instance: shut, binding: newId('new') };
      for (let repeat = 0; repeat < 2; repeat += 1) {
        const answer = await broker.platform.bind(ids);
        expect(answer.status).toBe(500);
        expectErrorBody(answer);
      }
      expect(await scene.objects(ids.binding)).toEqual([]);
      expect((await broker.platform.getBinding(kept())).status).toBe(200);

      const unbound = await broker.platform.unbind(kept());

      expect(unbound.status).toBe(503);
      expectErrorBody(unbound);
      const { body } = await broker.operator.bindings(`state=stuck&instance_id=${shut}`);
      expect(body.data).toMatchObject([{ bindingID: 'kept', cause: 'SealingError', tries: 1 }]);
      expect((await broker.platform.getInstance({ instance: shut })).status).toBe(200);
    });

    it('an instance whose admin access opens is bound meanwhile', async () => {
      const ids = idsOf(newId('meanwhile'));
      expect((await broker.platform.bind(ids)).status).toBe(201);
      expect((await broker.platform.unbind(ids)).status).toBe(200);
    });

    it('the key of our marks of it: no bind, by 500; fetches and DELETEs of what was issued go on', async () => {
      const ids = idsOf(newId('marked'));
      const issued = await broker.platform.bind(ids);
      await resealMarkKey();
      const started = await open([first, ...others]);

      const fresh = idsOf(newId('unmarked'));
      const answer = await started.platform.bind(fresh);
      expect(answer.status).toBe(500);
      expectErrorBody(answer);
      expect(await scene.objects(fresh.binding)).toEqual([]);
      expect((await started.platform.getBinding(ids)).body.credentials).toEqual(
        issued.body.credentials,
      );
      expect((await started.platform.unbind(ids)).status).toBe(200);
      expect([401, 403]).toContain(await scene.eyes.statusWith(issued.body.credentials.token));
      const ready = await fetch(`${started.operatorUrl}/readyz`);
      expect(await ready.json()).toMatchObject({
        warnings: [expect.stringMatching(/^The key that signs our marks .+ cannot be opened/)],
      });
      await started.stop();
    });

    it('with the key back all of it works again, with the same credential', async () => {
      const cured = await open([first, second]);
      const sealed = bound.get('sealed')?.body;
      const fetched = await cured.platform.getBinding(idsOf('sealed'));
      expect(fetched).toMatchObject({ status: 200, body: sealed });
      expect(await cured.platform.bind(idsOf('sealed'))).toMatchObject({
        status: 200,
        body: sealed,
      });
      expect(await scene.eyes.statusWith(fetched.body.credentials.token)).toBe(200);

      expect((await cured.platform.unbind(kept())).status).toBe(200);
      expect([401, 403]).toContain(
        await scene.eyes.statusWith(bound.get('kept')?.body.credentials.token ?? ''),
      );
      expect((await cured.platform.bind(kept())).status).toBe(201);
      for (const ids of [idsOf('sealed'), kept()]) {
        expect((await cured.platform.unbind(ids)).status).toBe(200);
      }
      await cured.stop();
    });
  });
});
