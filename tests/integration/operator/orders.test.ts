// What operators order: a retry, the end of all bindings of an instance, a cluster that is gone. Each is recorded with
// who and why; what is refused has changed nothing (docs/api.md, "Orders").
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { aroundLedger } from '../../support/ledger-dump.ts';
import type { OperatorAnswer } from '../../support/operator.ts';
import { until } from '../../support/until.ts';
import { newId, untilOperationEnds } from '../bindings/scene.ts';
import { openOperated, type Operated } from './operated.ts';

describeOnEngines('an order of an operator', {}, (engine) => {
  let operated: Operated;

  beforeAll(async () => {
    operated = await openOperated(engine);
  });
  afterAll(() => operated.close());

  /** Deleted while its cluster was silent, with a grant that is not revoked. */
  async function leftover(): Promise<{ readonly instance: string; readonly binding: string }> {
    const ids = await operated.stuck();
    await operated.scene.platform.deprovision(ids);
    await operated.scene.passTime(125);
    await untilOperationEnds(operated.scene.platform, ids, 'succeeded');
    expect(await sealedAccessesOf(ids.instance)).toBe(1);
    return ids;
  }

  async function sealedAccessesOf(instance: string): Promise<number> {
    const text = 'select 1 from instances where id = $1 and sealed_access is not null';
    return (await operated.scene.ledger.sql(text, [instance])).length;
  }

  async function proofsOf(instance: string): Promise<readonly (string | null)[]> {
    const rows = await operated.scene.ledger.sql<{ proof: string | null }>(
      `select g.proof from grants g join instances i on i.key = g.instance_key
      where i.id = $1 order by g.intended_at`,
      [instance],
    );
    return rows.map(({ proof }) => proof);
  }

  async function expectRefused(
    act: () => Promise<OperatorAnswer>,
    status: number,
    description: string | RegExp,
  ): Promise<void> {
    const eventsBefore = await operated.events();
    const { answer, before, after } = await aroundLedger(operated.scene.ledger, act);
    const { description: told, ...rest } = answer.body as { readonly description: string };
    expect({ status: answer.status, rest }).toEqual({ status, rest: {} });
    expect(typeof description === 'string' ? told === description : description.test(told)).toBe(
      true,
    );
    expect(after).toEqual(before);
    expect(await operated.events()).toEqual(eventsBefore);
  }

  describe('to retry a revocation', () => {
    it('ends it where the cluster is back, and records who asked and why', async () => {
      const ids = await operated.stuck();
      await operated.proxy.bringUp();

      expect(await operated.operator.retry(ids, { reason: 'INC-1: it is back' })).toEqual({
        status: 200,
        body: { outcome: 'ended' },
      });

      expect((await operated.scene.platform.getBinding(ids)).status).toBe(404);
      expect(await proofsOf(ids.instance)).not.toContain(null);
      expect(await operated.events(ids.instance)).toEqual([
        {
          type: 'revocation-retried',
          instance_id: ids.instance,
          binding_id: ids.binding,
          actor: 'operator',
          reason: 'INC-1: it is back',
        },
      ]);
      // Nothing is left to be tried, which is what was wanted.
      expect((await operated.operator.retry(ids)).body).toEqual({ outcome: 'ended' });
      expect(await operated.events(ids.instance)).toHaveLength(1);
    });

    it('says what it came to where the cluster is not', async () => {
      const ids = await operated.stuck();

      const { status, body } = await operated.operator.retry(ids);

      expect(status).toBe(200);
      expect(body).toMatchObject({
        outcome: 'left',
        binding: {
          bindingID: ids.binding,
          state: 'stuck',
          tries: 2,
          cause: expect.stringMatching(/^cluster: unreachable: /) as string,
        },
      });
    });

    it('may come from two operators at once', async () => {
      const ids = await operated.stuck();
      await operated.proxy.bringUp();

      const answers = await Promise.all([
        operated.operator.retry(ids, { reason: 'one' }),
        operated.operator.retry(ids, { reason: 'other' }),
      ]);

      expect(answers.map(({ body }) => body)).toEqual([{ outcome: 'ended' }, { outcome: 'ended' }]);
    });

    it('reaches what a deleted instance left behind, whose access is then erased', async () => {
      const ids = await leftover();
      await operated.proxy.bringUp();

      expect((await operated.operator.retry(ids)).body).toEqual({ outcome: 'ended' });

      expect(await sealedAccessesOf(ids.instance)).toBe(0);
    });

    it('is refused for what is not known, and for what nobody ordered to end', async () => {
      const { instance, bindings } = await operated.bound(1);
      const live = { instance, binding: bindings[0] ?? '' };

      await expectRefused(
        () => operated.operator.retry({ ...live, instance: newId('none') }),
        404,
        'There is no service instance with this id.',
      );
      await expectRefused(
        () => operated.operator.retry({ instance, binding: newId('none') }),
        404,
        'There is no service binding with this id.',
      );
      await expectRefused(() => operated.operator.retry(live), 409, /^Nothing of this service/);
      expect((await operated.scene.platform.getBinding(live)).status).toBe(200);
    });
  });

  describe('to end all bindings of an instance', () => {
    it('is done at once, and says how far', async () => {
      const { instance, bindings } = await operated.bound(3);

      expect(await operated.operator.revokeAll(instance, { reason: 'a leak' })).toEqual({
        status: 200,
        body: { ordered: 3, ended: 3, left: 0 },
      });

      for (const binding of bindings) {
        expect((await operated.scene.platform.getBinding({ instance, binding })).status).toBe(404);
        expect(await operated.scene.objects(binding)).toEqual([]);
      }
      expect(await operated.events(instance)).toMatchObject([
        { type: 'bindings-revoked', actor: 'operator', reason: 'a leak', binding_id: null },
      ]);
      // The ids are free, and the instance goes on.
      const again = { instance, binding: bindings[0] ?? '' };
      expect((await operated.scene.platform.bind(again)).status).toBe(201);
    });

    it('hands out nothing more where the cluster is silent, and says what is left', async () => {
      const { instance, bindings } = await operated.bound(2);
      await operated.proxy.takeDown();

      expect((await operated.operator.revokeAll(instance)).body).toEqual({
        ordered: 2,
        ended: 0,
        left: 2,
      });
      expect((await operated.operator.revokeAll(instance)).body).toEqual({
        ordered: 0,
        ended: 0,
        left: 2,
      });
      const ids = { instance, binding: bindings[0] ?? '' };
      expect((await operated.scene.platform.getBinding(ids)).status).toBe(404);
      await operated.proxy.bringUp();
    });

    it('is refused for what is not known', async () => {
      await expectRefused(
        () => operated.operator.revokeAll(newId('none')),
        404,
        'There is no service instance with this id.',
      );
    });
  });

  describe('that a cluster is gone', () => {
    it('is refused while the cluster answers', async () => {
      const { instance, bindings } = await operated.bound(1);

      await expectRefused(
        () => operated.operator.clusterGone(instance),
        409,
        /^The cluster answers, and it is the one that was attached\./,
      );
      const ids = { instance, binding: bindings[0] ?? '' };
      expect((await operated.scene.platform.getBinding(ids)).status).toBe(200);
    });

    it('ends what is on it by absence, and leaves an instance that can only be deleted', async () => {
      const { instance, bindings } = await operated.bound(2);
      const [first = '', second = ''] = bindings;
      await operated.proxy.takeDown();
      await operated.scene.platform.unbind({ instance, binding: first });

      const answer = await operated.operator.clusterGone(instance, { reason: 'torn down' });

      expect(answer).toEqual({ status: 200, body: { ordered: 1, ended: 2, left: 0 } });
      expect(await proofsOf(instance)).toEqual([
        'cluster-gone-by-operator',
        'cluster-gone-by-operator',
      ]);
      expect(await operated.events(instance)).toMatchObject([
        { type: 'cluster-declared-gone', actor: 'operator', reason: 'torn down' },
      ]);
      const ids = { instance, binding: second };
      expect((await operated.scene.platform.getBinding(ids)).status).toBe(404);
      const bound = await operated.scene.platform.bind({ instance, binding: newId('new') });
      expect(bound).toMatchObject({
        status: 400,
        body: {
          description:
            'The cluster of the service instance does not exist any more; no binding can be made for it. Delete the instance.',
        },
      });
      // A repeat, although the cluster is back: it was said, and nothing is left.
      await operated.proxy.bringUp();
      expect((await operated.operator.clusterGone(instance)).body).toEqual({
        ordered: 0,
        ended: 0,
        left: 0,
      });
      expect((await operated.scene.platform.deprovision({ instance })).status).toBe(202);
      await untilOperationEnds(operated.scene.platform, { instance }, 'succeeded');
    });

    it('may come from two operators at once', async () => {
      const { instance } = await operated.stuck();

      const answers = await Promise.all([
        operated.operator.clusterGone(instance, { reason: 'one' }),
        operated.operator.clusterGone(instance, { reason: 'other' }),
      ]);

      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers.map(({ body }) => body['left'])).toEqual([0, 0]);
      expect(await proofsOf(instance)).toEqual(['cluster-gone-by-operator']);
    });

    it('settles what a deleted instance left behind, and erases its access', async () => {
      const { instance } = await leftover();

      expect((await operated.operator.clusterGone(instance)).body).toEqual({
        ordered: 0,
        ended: 1,
        left: 0,
      });

      expect(await sealedAccessesOf(instance)).toBe(0);
      expect((await operated.operator.bindings(`instance_id=${instance}`)).body.data).toEqual([]);
    });

    it('overrules a cluster that hangs, within the time of a request', async () => {
      const { instance } = await operated.bound(1);
      const hanging = operated.proxy.misbehave({ on: /./, act: { kind: 'hold' } });

      const { body } = await operated.operator.clusterGone(instance);
      hanging.end();

      expect(body).toEqual({ ordered: 1, ended: 1, left: 0 });
    });

    it('makes no sense for an instance that never had one', async () => {
      const instance = newId('none');
      const silent = operated.scene.cluster.adminKubeconfig.replace(
        /server: .*/,
        'server: https://127.0.0.1:1',
      );
      await operated.scene.platform.provision({ instance }, silent);
      await until({
        what: 'the instance is known',
        limitMs: 20_000,
        isSo: async () =>
          (await operated.scene.platform.lastOperation({ instance })).status === 200,
      });

      const { status, body } = await operated.operator.clusterGone(instance);

      expect([status, body]).toEqual([
        400,
        {
          description:
            'No cluster was ever attached to the service instance, so nothing is left on one.',
        },
      ]);
      await operated.scene.platform.deprovision({ instance });
    });
  });

  describe('that an older database was restored', () => {
    it('is recorded where one is suspected, and nothing where none is', async () => {
      const { instance } = await operated.bound(0);
      expect((await operated.operator.confirmRestore(instance)).body).toEqual({ confirmed: false });
      expect(await operated.events(instance)).toEqual([]);
      await operated.scene.ledger.sql(
        `insert into suspected_restores (cluster_uid, suspected_at, grant_name)
        select cluster_uid, $2, 'kyma-binding-lost' from instances where id = $1`,
        [instance, operated.scene.now()],
      );

      const answer = await operated.operator.confirmRestore(instance, { reason: 'yes, tonight' });

      expect(answer).toEqual({ status: 200, body: { confirmed: true } });
      expect(await operated.events(instance)).toMatchObject([
        { type: 'restore-confirmed', actor: 'operator', reason: 'yes, tonight' },
      ]);
    });
  });

  describe('without a reason, or with something else', () => {
    it.each([
      ['no body', undefined, 'The body must be a JSON object with a reason.'],
      ['no reason', {}, 'The body must have reason.'],
      ['an empty reason', { reason: '  ' }, 'reason must not be empty.'],
      ['a number', { reason: 4711 }, 'reason must be of type string.'],
      [
        'a long reason',
        { reason: 'x'.repeat(1001) },
        'reason must not be longer than 1000 characters.',
      ],
      ['more than a reason', { reason: 'x', force: true }, 'force is not known.'],
    ])('is refused: %s', async (_, body, description) => {
      const { instance, bindings } = await operated.bound(1);
      const ids = `${instance}/${bindings[0]}`;
      const orders = [
        ['POST', `/bindings/${ids}/retry`],
        ['POST', `/runtimes/${instance}/cluster-gone`],
        ['DELETE', `/runtimes/${instance}/bindings`],
        ['POST', `/runtimes/${instance}/confirm-restore`],
      ] as const;
      const { operator } = operated;
      for (const [method, path] of orders) {
        await expectRefused(() => operator.call(method, path, body), 400, description);
      }
    });

    it('is refused for an id that cannot be one, and to who is no operator', async () => {
      const path = '/runtimes/a%00b/cluster-gone';
      await expectRefused(
        () => operated.operator.call('POST', path, { reason: 'x' }),
        400,
        'The instance_id in the path must not contain a NUL character.',
      );
      const { operatorUrl } = operated.scene.broker;
      for (const [method, at] of [
        ['GET', '/bindings'],
        ['POST', '/bindings/i/b/retry'],
        ['POST', '/runtimes/i/cluster-gone'],
        ['DELETE', '/runtimes/i/bindings'],
        ['POST', '/runtimes/i/confirm-restore'],
      ] as const) {
        expect((await fetch(`${operatorUrl}${at}`, { method })).status).toBe(401);
      }
    });
  });
});
