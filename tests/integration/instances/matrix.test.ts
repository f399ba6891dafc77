// The state matrix of instances (OSB 2.17), cell by cell over HTTP, both databases and a real API server. Each cell also
// runs without credentials, without a version and with one that is too old; its own request carries fields that OSB does
// not know. What is refused with 4xx has changed nothing (C31).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabaseOn } from '../../support/database.ts';
import { type LedgerEyes, ledgerEyesOf, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import type { Call, OsbAnswer } from '../../support/platform.ts';
import {
  bind,
  get,
  patch,
  patchAgain,
  put,
  remove,
  RENAMED,
  type RequestTo,
  unbind,
} from './instance-requests.ts';
import {
  bringInto,
  type InstanceInState,
  RESUME,
  type Stage,
  STATES,
  SUSPEND,
} from './instance-states.ts';

const AR = '422 AsyncRequired';
const CE = '422 ConcurrencyError';

const NU = '422 InstanceNotUpdateable';

/** One line a request; its cells stand in the order of STATES. `op` is the operation that runs. */
const MATRIX: Readonly<Record<string, readonly [RequestTo, readonly string[]]>> = {
  // unknown, provisioning, ready, updating, suspending, suspended, resuming, deprovisioning, deleted, create failed
  'PUT identical, flag': [
    put(),
    ['202 new', '202 op', '200', CE, CE, '200', CE, CE, '202 new', '409'],
  ],
  'PUT different, flag': [
    put({ name: 'x' }),
    ['202 new', '409', '409', '409', '409', '409', '409', CE, '202 new', '409'],
  ],
  'PUT identical, no flag': [put({}, ''), [AR, AR, '200', CE, CE, '200', CE, CE, AR, '409']],
  'PUT different, no flag': [
    put({ name: 'x' }, ''),
    [AR, AR, '409', CE, CE, '409', CE, CE, AR, '409'],
  ],
  'PATCH with a change, flag': [
    patch(RENAMED),
    ['404', CE, '202 new', CE, CE, NU, CE, CE, '404', NU],
  ],
  'PATCH with a change, no flag': [
    patch(RENAMED, ''),
    ['404', CE, AR, AR, AR, NU, AR, CE, '404', NU],
  ],
  'PATCH as the one that runs, flag': [
    patchAgain(),
    ['404', CE, '200', '202 op', CE, '200', CE, CE, '404', NU],
  ],
  'PATCH as the one that runs, no flag': [
    patchAgain(''),
    ['404', CE, '200', AR, CE, '200', CE, CE, '404', NU],
  ],
  'PATCH no-op, flag': [
    patch({ parameters: {} }),
    ['404', CE, '200', CE, CE, '200', CE, CE, '404', NU],
  ],
  'PATCH context only, no flag': [
    patch({ context: { user_id: 'Some@One' } }, ''),
    ['404', CE, '200', CE, CE, '200', CE, CE, '404', NU],
  ],
  'PATCH active: false, flag': [
    patch(SUSPEND),
    ['404', CE, '202 new', CE, '202 op', '200', CE, CE, '404', NU],
  ],
  'PATCH active: false, no flag': [
    patch(SUSPEND, ''),
    ['404', CE, AR, AR, AR, '200', AR, CE, '404', NU],
  ],
  'PATCH active: true, flag': [
    patch(RESUME),
    ['404', CE, '200', CE, CE, '202 new', '202 op', CE, '404', NU],
  ],
  'PATCH active: true, no flag': [
    patch(RESUME, ''),
    ['404', CE, '200', CE, AR, AR, AR, CE, '404', NU],
  ],
  'DELETE, flag': [
    remove(),
    ['410', '202 new', '202 new', CE, CE, '202 new', CE, '202 op', '410', '202 new'],
  ],
  'DELETE, no flag': [remove({ flag: '' }), ['410', AR, AR, AR, AR, AR, AR, AR, '410', AR]],
  'DELETE without service_id': [remove({ service: '' }), STATES.map(() => '400')],
  'DELETE without plan_id': [remove({ plan: '' }), STATES.map(() => '400')],
  GET: [get(), ['404', '404', '200', '200', '200', '200', '200', '200', '404', '404']],
  last_operation: [
    get('/last_operation'),
    [
      '404',
      '200 in progress',
      '200 succeeded',
      '200 in progress',
      '200 in progress',
      '200 succeeded',
      '200 in progress',
      '200 in progress',
      '200 succeeded',
      '200 failed',
    ],
  ],
  'Bind PUT, new id': [bind(), ['404', CE, '201', '201', CE, '400', CE, CE, '404', '400']],
  'Unbind, unknown id': [unbind(), STATES.map(() => '410')],
};

const CELLS = Object.entries(MATRIX).flatMap(([title, [request, expected]]) =>
  STATES.map((state, column) => ({ title, request, state, expected: expected[column] ?? '' })),
);

/** Cells whose request leaves an instance in its state share one. */
function staysAsItIs({ expected }: { readonly expected: string }): boolean {
  return expected !== '202 new' && expected !== '201';
}

/** Before any of them is looked at, a request must be a known platform's, of a version that is served. */
const REFUSED: readonly (readonly [number, Readonly<Record<string, string>>])[] = [
  [401, { authorization: `Basic ${Buffer.from('broker:wrong').toString('base64')}` }],
  [412, { 'x-broker-api-version': '' }],
  [412, { 'x-broker-api-version': '1.0' }],
];

const REQUEST_IDENTITY = 'e26cee84-6b38-4456-b34e-d1a9f002c956';

describeOnEngines(
  'C58, C72, C73, C80, C81, C85, C90, C91, C93, C97, C103, C104: KEB defect 41: the state matrix of instances',
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
        let shared: InstanceInState;

        beforeAll(async () => {
          shared = await bringInto(state, stage);
        });

        afterAll(() => shared.release());

        it.each(cells.filter(staysAsItIs))('$title: $expected', async ({ request, expected }) => {
          await expectRefusals(shared, request(shared));
          await expectCell(shared, request(shared), expected);
        });

        it.concurrent.for(cells.filter((cell) => !staysAsItIs(cell)))(
          '$title: $expected',
          async ({ request, expected }) => {
            const target = await bringInto(state, stage);
            try {
              await expectRefusals(target, request(target));
              await expectCell(target, request(target), expected);
            } finally {
              await target.release();
            }
          },
        );
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

/** Written by its own time, when a step is begun anew that its cluster has not answered. */
const OF_ITS_RUNNER = `- '{step,attempt,next_run_at,description,claims,lease_replica,leased_until}'::text[]`;

const ROWS_OF_INSTANCE = `
  with mine as (select * from instances where id = $1)
  select to_jsonb(mine) as row from mine
  union all select to_jsonb(o) ${OF_ITS_RUNNER} from operations o where instance_key in (select key from mine)
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
