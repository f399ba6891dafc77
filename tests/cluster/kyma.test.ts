// The story of a Kyma runtime where nothing is a double of an API server: one real kube-apiserver is the control plane,
// another is what the Runtime becomes, and time is everybody's own.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../support/broker.ts';
import { ownCluster, sharedCluster, type SharedCluster } from '../support/cluster.ts';
import {
  makeControlPlane,
  openPlaneEyes,
  PATHS,
  type PlaneEyes,
} from '../support/control-plane/control-plane.ts';
import { RuntimeMaker } from '../support/control-plane/runtime-maker.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { describeWith } from '../support/needs.ts';
import { AWS_PLAN_ID, type Ids, type Platform } from '../support/platform.ts';
import { kubectl } from '../support/kubectl.ts';
import type { KubeApiserver } from '../support/real-parts/kube-apiserver.ts';
import { until } from '../support/until.ts';

/** Each round is seen within the second in which the broker asks again; a busy machine takes several times that. */
const STORY_LIMIT_MS = 120_000;

const OFTEN = 'kyma: {pollSeconds: 1, channel: fast, modules: [{name: btp-operator}]}';

describeWith(
  { postgres: true, cluster: true, ownCluster: true, kubectl: true },
  'a Kyma runtime on real API servers',
  () => {
    let plane: KubeApiserver;
    let runtime: SharedCluster;
    let database: FreshDatabase;
    let broker: TestBroker;
    let platform: Platform;
    let maker: RuntimeMaker;
    let eyes: PlaneEyes;

    beforeAll(async () => {
      plane = await ownCluster();
      runtime = sharedCluster();
      const brokersKubeconfig = await makeControlPlane(plane);
      maker = new RuntimeMaker({
        kubeconfig: plane.adminKubeconfig,
        clusterFor: () => runtime.adminKubeconfig,
      });
      eyes = openPlaneEyes(plane.adminKubeconfig);
      database = await freshDatabase();
      broker = await startBroker({
        databaseUrl: database.url,
        env: { RUNTIME_BROKER_KCP_KUBECONFIG: 'kcp', RUNTIME_BROKER_CONFIG: 'config.yaml' },
        files: { kcp: brokersKubeconfig, 'config.yaml': OFTEN },
      });
      platform = broker.platform.forPlan(AWS_PLAN_ID);
    });
    afterAll(async () => {
      await broker.stop();
      await Promise.all([eyes.close(), maker.close(), database.drop()]);
      await plane.stop();
    });

    async function endedAs(instance: string): Promise<unknown> {
      let state: unknown;
      await until({
        what: 'the operation has ended',
        limitMs: STORY_LIMIT_MS,
        isSo: async () => {
          await maker.round();
          ({ state } = (await platform.lastOperation({ instance })).body);
          return state !== 'in progress';
        },
      });
      return state;
    }

    async function boundAndUsed(bindings: readonly Ids[]): Promise<readonly string[]> {
      const kubeconfigs: string[] = [];
      for (const ids of bindings) {
        const { status, body } = await platform.bind(ids);
        expect(status).toBe(201);
        const { kubeconfig } = body.credentials;
        const listed = await kubectl(kubeconfig, ['get', 'namespaces', '-o', 'name']);
        expect(listed.stdout).toContain('namespace/kyma-system');
        kubeconfigs.push(kubeconfig);
      }
      return kubeconfigs;
    }

    async function demandRefused(kubeconfigs: readonly string[]): Promise<void> {
      for (const kubeconfig of kubeconfigs) {
        const refused = await kubectl(kubeconfig, ['get', 'secrets', '-A']);
        expect(refused.status).not.toBe(0);
        expect(refused.stderr).toMatch(/forbidden|Unauthorized|must be logged in/i);
      }
    }

    it(
      'is made, bound to, used and removed with two live bindings, by a broker with the rights it asks for',
      async () => {
        const instance = randomUUID();
        expect((await platform.create({ instance }, { name: 'story' })).status).toBe(202);
        expect(await endedAs(instance)).toBe('succeeded');

        const [made] = await eyes.list(PATHS.runtimes);
        expect(made?.status?.state).toBe('Ready');
        const [kyma] = await eyes.list(PATHS.kymas);
        expect(kyma?.metadata.name).toBe(made?.metadata.name);
        expect(kyma?.spec).toEqual({ channel: 'fast', modules: [{ name: 'btp-operator' }] });

        const bindings = [randomUUID(), randomUUID()].map((binding) => ({ instance, binding }));
        const kubeconfigs = await boundAndUsed(bindings);

        expect((await platform.deprovision({ instance })).status).toBe(202);
        expect(await endedAs(instance)).toBe('succeeded');

        await demandRefused(kubeconfigs);
        for (const ids of bindings) expect((await platform.unbind(ids)).status).toBe(410);
        for (const path of Object.values(PATHS)) expect(await eyes.list(path)).toEqual([]);
        expect(maker.done).toEqual([
          'Runtime Pending',
          'Secret made',
          'Runtime Ready',
          'Kyma deleted',
          'Runtime Terminating',
          'Secret deleted',
          'Runtime deleted',
        ]);
      },
      STORY_LIMIT_MS,
    );
  },
);
