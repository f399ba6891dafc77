// The demo, or its broker, or the npm that runs it, is killed at some moment; then `npm start` comes up on the same data
// folder at once, the instance's cluster is there, and the bindings are right.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BrokerProcess, startEmbeddedProcess } from '../support/broker-process.ts';
import { type BindingBody, type OsbAnswer, SERVICE_ID } from '../support/platform.ts';
import { until } from '../support/until.ts';
import { BY_NPM, DEMO_LIMIT_MS, type DemoRun, DemoScene, namespacesBy } from './demo-run.ts';

const SANDBOX_PLAN_ID = '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11';
const INSTANCE = '/service_instances/demo';
const OFFER = `service_id=${SERVICE_ID}&plan_id=${SANDBOX_PLAN_ID}`;

let scene: DemoScene;

beforeEach(() => {
  scene = new DemoScene();
});

afterEach(async ({ task }) => {
  await scene.close({ hasFailed: task.result?.state === 'fail' });
});

/** What is waited for before the kill: a file of the data folder, or something that the demo says. */
interface Moment {
  readonly kind: 'file' | 'words';
  readonly of: string;
}

const HELD: Moment = { kind: 'file', of: 'lock.json' };
const HALF_MADE: Moment = { kind: 'file', of: 'database.unfinished' };
const STARTED: Moment = { kind: 'words', of: 'Start the broker' };
const PROVISIONED: Moment = { kind: 'words', of: 'Provision' };
const BOUND: Moment = { kind: 'words', of: 'Bind: a CI job' };
const REVOKED: Moment = { kind: 'words', of: 'Revoke it' };
const ATTENDED: Moment = { kind: 'words', of: 'Ctrl-C ends the demo' };

async function comes(moment: Moment, run: DemoRun): Promise<void> {
  if (moment.kind === 'words') return await run.untilSays(moment.of);
  await until({
    what: `${moment.of} is there`,
    limitMs: DEMO_LIMIT_MS,
    isSo: () => existsSync(join(scene.dataFolder, moment.of)),
    isHopeless: () => (run.child.exitCode === null ? null : `it has ended:\n${run.output()}`),
  });
}

function startDemo(): DemoRun {
  return scene.start({ env: { ...scene.withoutKubectl(), CI: '' } });
}

describe('after a kill, npm start on the same data folder finds everything right', () => {
  it.each([HELD, HALF_MADE, STARTED, PROVISIONED, BOUND, REVOKED, ATTENDED])(
    'of the demo at the $kind "$of"',
    async (moment) => {
      const run = startDemo();
      await comes(moment, run);
      run.child.kill('SIGKILL');
      await run.status();
      await expectAllIsRight();
    },
    DEMO_LIMIT_MS,
  );

  it.each([HALF_MADE, PROVISIONED, ATTENDED])(
    'of its broker at the $kind "$of", which the demo tells',
    async (moment) => {
      const run = startDemo();
      await comes(moment, run);
      await until({
        what: 'the lock names the broker',
        limitMs: DEMO_LIMIT_MS,
        isSo: () => brokerId() !== undefined,
        isHopeless: () => null,
      });
      process.kill(brokerId() ?? 0, 'SIGKILL');
      expect(await run.status()).toBe(1);
      expect(run.output()).toMatch(/The broker (did not start|has ended)/);
      await expectAllIsRight();
    },
    DEMO_LIMIT_MS,
  );

  it(
    'of npm, which runs the demo',
    async () => {
      const run = scene.start({ command: BY_NPM, env: { CI: '' } });
      await run.untilSays('✓ Bind: a CI job');
      run.child.kill('SIGKILL');
      // The pipe closes once the demo has ended too.
      await run.status();
      await expectAllIsRight();
    },
    DEMO_LIMIT_MS,
  );

  it(
    'of the demo, and so does a second demo',
    async () => {
      const killed = startDemo();
      await killed.untilSays('✓ Bind: a CI job');
      killed.child.kill('SIGKILL');
      await killed.status();
      const run = scene.start({ env: scene.withoutKubectl() });
      expect(await run.status()).toBe(0);
      expect(run.output()).toContain('service_bindings/ci-job → 200');
    },
    DEMO_LIMIT_MS,
  );
});

/** Of the process that holds the folder; undefined before its lock is written. */
function brokerId(): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(join(scene.dataFolder, 'lock.json'), 'utf8')) as {
      readonly pid: number;
    };
    return pid;
  } catch {
    return undefined;
  }
}

async function expectAllIsRight(): Promise<void> {
  const broker = await startEmbeddedProcess(scene.dataFolder);
  try {
    await expectInstance(broker);
    for (const binding of ['ci-job', 'yours']) await expectBinding(broker, binding);
    // Whichever binding it is of, it has ended by now.
    if (existsSync(scene.file('kubeconfig'))) await expectRefused(scene.read('kubeconfig'));
  } finally {
    expect(await broker.end('SIGTERM')).toBe(0);
  }
}

/** The one that the demo has asked for; where it has come to none, it can be made now. */
async function expectInstance({ platform }: BrokerProcess): Promise<void> {
  const asked = await platform.lastOperation({ instance: 'demo' });
  if (asked.status === 404) {
    const made = await platform.call({
      method: 'PUT',
      path: `${INSTANCE}?accepts_incomplete=true`,
      body: {
        service_id: SERVICE_ID,
        plan_id: SANDBOX_PLAN_ID,
        organization_guid: 'organization',
        space_guid: 'space',
        parameters: { name: 'demo' },
      },
    });
    expect(made.status).toBe(202);
  }
  await until({
    what: 'the instance is ready',
    limitMs: DEMO_LIMIT_MS,
    isSo: async () =>
      (await platform.lastOperation({ instance: 'demo' })).body['state'] === 'succeeded',
    isHopeless: () => null,
  });
  expect((await platform.getInstance({ instance: 'demo' })).status).toBe(200);
}

/** What the broker hands out works, and what it does not hand out any more does not. */
async function expectBinding(broker: BrokerProcess, binding: string): Promise<void> {
  const { platform } = broker;
  const found = await platform.getBinding({ instance: 'demo', binding });
  expect([200, 404]).toContain(found.status);
  if (found.status === 200) await expectLive(found);

  // As the demo has asked for it.
  const seconds = binding === 'yours' ? 3_600 : 600;
  const bound = await platform.call<BindingBody>({
    method: 'PUT',
    path: `${INSTANCE}/service_bindings/${binding}`,
    body: {
      service_id: SERVICE_ID,
      plan_id: SANDBOX_PLAN_ID,
      parameters: { expiration_seconds: seconds },
    },
  });
  expect(bound.status).toBe(found.status === 200 ? 200 : 201);
  await expectLive(bound);

  const path = `${INSTANCE}/service_bindings/${binding}?${OFFER}`;
  expect((await platform.call({ method: 'DELETE', path })).status).toBe(200);
  await expectRefused(bound.body.credentials.kubeconfig);
}

async function expectLive({ body }: OsbAnswer<BindingBody>): Promise<void> {
  expect(await namespacesBy(body.credentials.kubeconfig)).toContain('kube-system');
}

async function expectRefused(kubeconfig: string): Promise<void> {
  expect([401, 403]).toContain(await namespacesBy(kubeconfig));
}
