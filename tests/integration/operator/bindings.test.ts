// GET /bindings: every grant that has not ended, by state and page by page; why a revocation is stuck; and never a
// credential (docs/api.md, "Which bindings there are").
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listBindings } from '../../../src/broker/list-bindings.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import type { ListedBinding } from '../../support/operator.ts';
import { until } from '../../support/until.ts';
import { newId, untilOperationEnds } from '../bindings/scene.ts';
import { openOperated, type Operated } from './operated.ts';

const WIRE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\dZ$/;

describeOnEngines('the list of bindings, for operators', {}, (engine) => {
  let operated: Operated;

  beforeAll(async () => {
    operated = await openOperated(engine);
  });
  afterAll(() => operated.close());

  async function listed(query: string): Promise<readonly ListedBinding[]> {
    const { status, body } = await operated.operator.bindings(query);
    expect(status).toBe(200);
    expect(body.count).toBe(body.data.length);
    return body.data;
  }

  it('shows a live one, without its credential', async () => {
    const { instance, bindings, tokens } = await operated.bound(1);

    const { status, body } = await operated.operator.bindings(`instance_id=${instance}`);

    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          instanceID: instance,
          bindingID: bindings[0],
          state: 'live',
          grant: expect.stringMatching(/^kyma-binding-/) as string,
          createdAt: expect.stringMatching(WIRE_TIME) as string,
          createdBy: 'broker',
          expiresAt: expect.stringMatching(WIRE_TIME) as string,
          instanceDeleted: false,
        },
      ],
      count: 1,
    });
    const text = JSON.stringify(body);
    for (const hidden of [tokens[0] ?? '', 'kubeconfig', 'token', 'sealed', 'v1.']) {
      expect(text).not.toContain(hidden);
    }
  });

  it('KEB defect 31: says of a stuck one why, how often it was tried, and when it is tried next', async () => {
    const ids = await operated.stuck();

    const [stuck, ...others] = await listed(`state=stuck&binding_id=${ids.binding}`);

    expect(others).toEqual([]);
    expect(stuck).toEqual({
      instanceID: ids.instance,
      bindingID: ids.binding,
      state: 'stuck',
      grant: expect.stringMatching(/^kyma-binding-/) as string,
      createdAt: expect.stringMatching(WIRE_TIME) as string,
      createdBy: 'broker',
      expiresAt: expect.stringMatching(WIRE_TIME) as string,
      instanceDeleted: false,
      revokingSince: expect.stringMatching(WIRE_TIME) as string,
      cause: expect.stringMatching(/^cluster: unreachable: /) as string,
      tries: 1,
      nextTryAt: expect.stringMatching(WIRE_TIME) as string,
    });
    expect(await listed(`state=live&binding_id=${ids.binding}`)).toEqual([]);
  });

  it('tells one that is issued from one that is ordered to end', async () => {
    const { instance } = await operated.bound(0);
    const binding = newId('slow');
    const path = /^POST .*serviceaccounts$/;
    const held = operated.proxy.misbehave({ on: path, act: { kind: 'hold' } });
    const bind = operated.scene.platform.bind({ instance, binding });
    await until({ what: 'the issue is held', limitMs: 20_000, isSo: () => held.seen() > 0 });
    const query = `instance_id=${instance}`;
    const states = async () => (await listed(query)).map(({ state }) => state);

    expect(await states()).toEqual(['issuing']);
    expect(await listed(`${query}&state=issuing`)).toHaveLength(1);
    expect(await listed(`${query}&state=revoking`)).toEqual([]);
    const unbind = operated.scene.platform.unbind({ instance, binding });
    await until({
      what: 'its end is ordered',
      limitMs: 20_000,
      isSo: async () => (await states())[0] === 'revoking',
    });
    expect(await listed(`${query}&state=revoking`)).toHaveLength(1);
    held.end();
    expect((await bind).status).toBe(422);
    expect((await unbind).status).toBe(200);
    expect(await states()).toEqual([]);
  });

  it('goes page by page, each grant once', async () => {
    const { instance, bindings } = await operated.bound(5);
    const seen: string[] = [];
    let cursor: string | undefined;
    const sizes: number[] = [];
    do {
      const from = cursor === undefined ? '' : `&cursor=${cursor}`;
      const { body } = await operated.operator.bindings(
        `instance_id=${instance}&page_size=2${from}`,
      );
      sizes.push(body.count);
      seen.push(...body.data.map(({ bindingID }) => bindingID));
      cursor = body.nextCursor;
    } while (cursor !== undefined);

    expect(sizes).toEqual([2, 2, 1]);
    expect(new Set(seen)).toEqual(new Set(bindings));
    expect(seen).toHaveLength(5);
  });

  it('KEB defect 30: is one query for a page, and opens no credential', async () => {
    const { instance, bindings } = await operated.bound(3);
    await operated.scene.ledger.sql(
      `update grants set sealed_token = 'opened by no key'
      where instance_key = (select key from instances where id = $1)`,
      [instance],
    );
    const { broker } = operated.scene.broker.composition;
    let queries = 0;
    const db = broker.db.withPlugin({
      transformQuery({ node }) {
        queries += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    const question = { bindingId: undefined, state: undefined, after: undefined };
    const page = await listBindings(
      { ...broker, db },
      { ...question, pageSize: 2, instanceId: instance },
    );

    expect(page.bindings).toHaveLength(2);
    expect(page.next).toBeDefined();
    expect(queries).toBe(1);
    const all = await listed(`instance_id=${instance}&state=live`);
    expect(new Set(all.map(({ bindingID }) => bindingID))).toEqual(new Set(bindings));
  });

  it.each([
    'page_size=0',
    'page_size=101',
    'page_size=ten',
    'page_size=1&page_size=2',
    'cursor=nonsense',
    'state=happy',
    'instance_id=%00',
    'instance=i',
  ])('refuses what it cannot go by: %s', async (query) => {
    const { status, body } = await operated.operator.call('GET', `/bindings?${query}`);

    expect(status).toBe(400);
    expect(Object.keys(body)).toEqual(['description']);
  });

  // Last: the clock goes on for all that is above.
  it('has what is past its expiry, and what a deleted instance left behind', async () => {
    const left = await operated.stuck();
    const { instance } = left;
    await operated.scene.platform.deprovision({ instance });
    await operated.scene.passTime(125);
    await untilOperationEnds(operated.scene.platform, { instance }, 'succeeded');
    expect(await listed(`instance_id=${instance}`)).toMatchObject([
      { state: 'stuck', instanceDeleted: true, bindingID: left.binding },
    ]);

    await operated.scene.passTime(8_000);
    const { data } = (await operated.operator.bindings('state=live')).body;
    expect(data).toEqual([]);
    expect((await listed('state=expired')).every(({ state }) => state === 'expired')).toBe(true);
    expect((await listed('state=expired')).length).toBeGreaterThanOrEqual(6);
  });
});
