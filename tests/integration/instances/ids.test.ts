// Ids of every kind, over a socket that changes nothing on the way: an id that OSB allows names one instance through
// its whole life, and what is none is refused (C24, C25).
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { drawSealingKeys } from './attached-cluster.ts';
import { type SharedCluster, sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { recordOutput, recordSecret } from '../../support/leak-record.ts';
import { describeWith } from '../../support/needs.ts';
import { OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';
import { until } from '../../support/until.ts';

const PASSWORD = 'the-password-of-raw-sockets';

/** As they stand in the request line. */
const GOOD: Readonly<Record<string, string>> = {
  'a GUID': '5b0e1b3a-6f1c-4a9b-9d3a-0f6f3c2b1a00',
  'one character': 'x',
  'a slash': 'a%2Fb',
  'a path upwards': '..%2F..%2Fetc',
  'three dots': '...',
  'a blank': 'a%20b',
  'a percent sign': '100%25',
  'a percent sequence, decoded once': 'a%252Fb',
  'a plus': 'a+b',
  'a question mark and a hash': 'a%3Fb%23c',
  'a word of the language': '__proto__',
  'a method of objects': 'constructor',
  'quotes and semicolons': 'it%27s%22;--',
  'a line break': 'a%0Ab',
  'another script': '%D0%BA%D0%BB%D1%8E%D1%87',
  'the last word of a route': 'last_operation',
  'letters in upper case': 'CASE',
  'the same in lower case': 'case',
  '255 characters': 'i'.repeat(255),
  '255 characters of four bytes each': '%F0%9F%94%91'.repeat(255),
};

const BAD: Readonly<Record<string, string>> = {
  'a dot': '%2E',
  'a dot, plain': '.',
  'two dots': '%2e%2e',
  'two dots, plain': '..',
  'a NUL': 'a%00b',
  'bytes that are not UTF-8': '%FF',
  'half a percent sequence': 'a%2',
  'a percent sequence of no digits': '%zz',
  'half of a surrogate pair': '%ED%A0%80',
  '256 characters': 'i'.repeat(256),
};

describeWith({ postgres: true, cluster: true }, 'an instance id over a real socket', () => {
  let database: FreshDatabase;
  let cluster: SharedCluster;
  let broker: TestBroker;

  beforeAll(async () => {
    cluster = sharedCluster();
    database = await freshDatabase();
    recordSecret('password of the platform', PASSWORD);
    broker = await startBroker({
      databaseUrl: database.url,
      env: { RUNTIME_BROKER_PASSWORD: PASSWORD, RUNTIME_BROKER_SEALING_KEYS: drawSealingKeys() },
    });
  });

  afterAll(async () => {
    await broker.stop();
    await database.drop();
  });

  it.concurrent.each(Object.entries(GOOD))(
    'C24: with %s names one instance from PUT to DELETE',
    async (_, id) => {
      const path = `/v2/service_instances/${id}`;
      expect((await send('GET', path)).status).toBe(404);
      expect((await send('PUT', `${path}?accepts_incomplete=true`, provisioning())).status).toBe(
        202,
      );
      await succeeded(path);
      expect((await send('GET', path)).status).toBe(200);
      expect((await send('PUT', path, provisioning())).status).toBe(200);
      const offering = `service_id=${SERVICE_ID}&plan_id=${OWN_CLUSTER_PLAN_ID}`;
      const gone = await send('DELETE', `${path}?accepts_incomplete=true&${offering}`);
      expect(gone.status).toBe(202);
      await succeeded(path);
      expect((await send('GET', path)).status).toBe(404);
    },
  );

  it.each(Object.entries(BAD))('C25: that is or has %s is refused everywhere', async (_, id) => {
    const offering = `service_id=${SERVICE_ID}&plan_id=${OWN_CLUSTER_PLAN_ID}`;
    const path = `/v2/service_instances/${id}`;
    const flag = 'accepts_incomplete=true';
    const answers = await Promise.all([
      send('PUT', `${path}?${flag}`, provisioning()),
      send('GET', path),
      send('GET', `${path}/last_operation`),
      send('DELETE', `${path}?${flag}&${offering}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    for (const { body } of answers) {
      expect(body['description']).toEqual(expect.stringMatching(/\S/));
    }
  });

  it('that is empty is refused', async () => {
    const answer = await send(
      'PUT',
      '/v2/service_instances/?accepts_incomplete=true',
      provisioning(),
    );
    expect(answer.status).toBe(400);
  });

  function provisioning() {
    return {
      service_id: SERVICE_ID,
      plan_id: OWN_CLUSTER_PLAN_ID,
      organization_guid: 'organization',
      space_guid: 'space',
      parameters: { kubeconfig: cluster.adminKubeconfig },
    };
  }

  async function succeeded(path: string): Promise<void> {
    await until({
      what: `the operation of ${path.slice(0, 60)} has succeeded`,
      limitMs: 25_000,
      isSo: async () => (await send('GET', `${path}/last_operation`)).body['state'] === 'succeeded',
    });
  }

  /** Not by fetch: it would mend the path before it is sent. */
  async function send(method: string, path: string, body?: unknown) {
    const { hostname, port } = new URL(broker.publicUrl);
    const call = request({
      hostname,
      port,
      method,
      path,
      headers: {
        authorization: `Basic ${Buffer.from(`broker:${PASSWORD}`).toString('base64')}`,
        'x-broker-api-version': '2.17',
        'content-type': 'application/json',
      },
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    const answered = await text(answer);
    recordOutput(`answer ${answer.statusCode} to ${method}`, answered);
    return {
      status: answer.statusCode,
      body: JSON.parse(answered) as Readonly<Record<string, unknown>>,
    };
  }
});
