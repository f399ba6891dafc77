// The state matrix of instances (OSB 2.17), cell by cell over HTTP, PostgreSQL and a real API server. Each
// cell has an instance of its own and also runs without credentials, without a version and with one that is too old;
// its own request carries fields that OSB does not know. What is refused with 4xx has changed nothing (C31).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabaseOn } from '../../support/database.ts';
import { type LedgerEyes, ledgerEyesOf, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import type { Call, OsbAnswer } from '../../support/platform.ts';
import { bind, get, put, remove, type RequestTo, unbind } from './instance-requests.ts';
import { bringInto, type InstanceInState, type Stage, STATES } from './instance-states.ts';

const AR = '422 AsyncRequired';
const CE = '422 ConcurrencyError';

/** One line a request; its cells stand in the order of STATES. `op` is the operation that runs. */
const MATRIX: Readonly<Record<string, readonly [RequestTo, ...string[]]>> = {
  // unknown, provisioning, ready, deprovisioning, deleted, create failed
  'PUT identical, flag': [put(), '202 new', '202 op', '200', CE, '202 new', '409'],
  'PUT different, flag': [put({ name: 'x' }), '202 new', '409', '409', CE, '202 new', '409'],
  'PUT identical, no flag': [put({}, ''), AR, AR, '200', CE, AR, '409'],
  'PUT different, no flag': [put({ name: 'x' }, ''), AR, AR, '409', CE, AR, '409'],
  'DELETE, flag': [remove(), '410', '202 new', '202 new', '202 op', '410', '202 new'],
  'DELETE, no flag': [remove({ flag: '' }), '410', AR, AR, AR, '410', AR],
  'DELETE without service_id': [remove({ service: '' }), '400', '400', '400', '400', '400', '400'],
  'DELETE without plan_id': [remove({ plan: '' }), '400', '400', '400', '400', '400', '400'],
  GET: [get(), '404', '404', '200', '200', '404', '404'],
  last_operation: [
    get('/last_operation'),
    '404',
    '200 in progress',
    '200 succeeded',
    '200 in progress',
    '200 succeeded',
    '200 failed',
  ],
  'Bind PUT, new id': [bind(), '404', CE, '201', CE, '404', '400'],
  'Unbind, unknown id': [unbind(), '410', '410', '410', '410', '410', '410'],
};

const CELLS = Object.entries(MATRIX).flatMap(([title, [request, ...expected]]) =>
  STATES.map((state, column) => ({ title, request, state, expected: expected[column] ?? '' })),
);

/** Before any of them is looked at, a request must be a known platform's, of a version that is served. */
const REFUSED: readonly (readonly [number, Readonly<Record<string, string>>])[] = [
  [401, { authorization: `Basic ${Buffer.from('broker:wrong').toString('base64')}` }],
  [412, { 'x-broker-api-version': '' }],
  [412, { 'x-broker-api-version': '1.0' }],
];

const REQUEST_IDENTITY = 'e26cee84-6b38-4456-b34e-d1a9f002c956';

describeOnEngines(
  'C58, C72, C73, C80, C85, C103: KEB defect 41: the state matrix of instances',
  { cluster: true },
  (engine) => {
    let database: FreshDatabase;
    let broker: TestBroker;
    let ledger: LedgerEyes;
    let stage: Stage;

    beforeAll(async () => {
      database = await freshDatabaseOn(engine);
      broker = await startBroker({ databaseUrl: database.url, env: database.env });
      ledger =
        engine === 'embedded'
          ? ledgerEyesOf(broker.composition.broker)
          : openLedgerEyes(database.url);
      stage = { platform: broker.platform, cluster: sharedCluster() };
    });

    afterAll(async () => {
      await broker.stop();
      await ledger.close();
      await database.drop();
    });

    describe.each(STATES.map((state) => ({ state })))(
      'of an instance that is $state',
      ({ state }) => {
        const cells = CELLS.filter((cell) => cell.state === state);

        it.concurrent.each(cells)('$title: $expected', async ({ request, expected }) => {
          const target = await bringInto(state, stage);
          try {
            await expectRefusals(target, request(target));
            await expectCell(target, request(target), expected);
          } finally {
            await target.release();
          }
        });
      },
    );

    async function expectRefusals(target: InstanceInState, call: Call): Promise<void> {
      const before = await rowsOf(target);
      for (const [status, headers] of REFUSED) {
        expect((await broker.platform.call({ ...call, headers })).status).toBe(status);
      }
      expect(await rowsOf(target)).toEqual(before);
    }

    async function expectCell(
      target: InstanceInState,
      call: Call,
      expected: string,
    ): Promise<void> {
      const before = await rowsOf(target);
      const answer = await broker.platform.call({
        ...call,
        headers: { 'x-broker-api-request-identity': REQUEST_IDENTITY },
        ...(call.body === undefined ? {} : { body: { ...call.body, unknown_to_osb: [{}] } }),
      });
      expect(shown(answer, target)).toBe(expected);
      expect(answer.headers.get('x-broker-api-request-identity')).toBe(REQUEST_IDENTITY);
      const after = answer.status < 400 ? before : await rowsOf(target);
      expect(after).toEqual(before);
      expect(answer.status === 410 ? answer.body : {}).toEqual({});
    }

    /** All that the ledger has about the instance; other cells go on beside this one. */
    async function rowsOf({ instance }: InstanceInState): Promise<readonly unknown[]> {
      return await ledger.sql(ROWS_OF_INSTANCE, [instance]);
    }
  },
);

const ROWS_OF_INSTANCE = `
  with mine as (select * from instances where id = $1)
  select to_jsonb(mine) as row from mine
  union all select to_jsonb(o) from operations o where instance_key in (select key from mine)
  union all select to_jsonb(b) from bindings b where instance_key in (select key from mine)
  union all select to_jsonb(g) from grants g where instance_key in (select key from mine)
  order by 1`;

function shown({ status, body }: OsbAnswer, { operation }: InstanceInState): string {
  const word = body['error'] ?? body['state'];
  if (typeof word === 'string') {
    return `${status} ${word}`;
  }
  if (status === 202) {
    return body['operation'] === operation ? '202 op' : '202 new';
  }
  return String(status);
}
