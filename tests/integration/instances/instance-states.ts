// Brings an instance of its own into each state that the matrix of OSB requests has a column for, and keeps it there
// until it is released.

import { randomUUID } from 'node:crypto';
import { type ClusterProxy, openClusterProxy } from '../../support/cluster-proxy.ts';
import type { SharedCluster } from '../../support/cluster.ts';
import type { OsbAnswer, Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { drawToken, withToken } from './attached-cluster.ts';
import { operationEnded } from './waits.ts';

export const STATES = [
  'unknown',
  'provisioning',
  'ready',
  'updating',
  'suspending',
  'suspended',
  'resuming',
  'deprovisioning',
  'deleted',
  'create failed',
] as const;

export type State = (typeof STATES)[number];

export interface InstanceInState {
  readonly instance: string;
  /** Of its own PUT, so that a repeat is identical. */
  readonly kubeconfig: string;
  /** That of the update which runs. */
  readonly newKubeconfig?: string | undefined;
  /** The operation that runs; undefined where none does. */
  readonly operation: string | undefined;
  /** Lets go what holds it. */
  release(): Promise<void>;
}

export interface Stage {
  readonly platform: Platform;
  readonly cluster: SharedCluster;
}

/** What is held arrives in some milliseconds; a worker of the job engine may be busy with another test's instance. */
const HELD_LIMIT_MS = 20_000;

export function bringInto(state: State, stage: Stage): Promise<InstanceInState> {
  const instance = `${state.replace(' ', '-')}-${randomUUID()}`;
  return MAKERS[state](instance, stage);
}

type Maker = (instance: string, stage: Stage) => Promise<InstanceInState>;

const MAKERS: Readonly<Record<State, Maker>> = {
  unknown: (instance, { cluster }) => Promise.resolve(free(instance, cluster.adminKubeconfig)),

  async provisioning(instance, { platform, cluster }) {
    const proxy = await openClusterProxy(cluster);
    const held = proxy.misbehave({ on: /./, act: { kind: 'hold' } });
    const { body } = await platform.provision({ instance }, proxy.adminKubeconfig);
    await untilHeld(held);
    return heldBy(proxy, { instance, operation: String(body['operation']) });
  },

  async ready(instance, { platform, cluster }) {
    await provisioned(platform, instance, cluster.adminKubeconfig);
    return free(instance, cluster.adminKubeconfig);
  },

  async updating(instance, { platform, cluster }) {
    const proxy = await openClusterProxy(cluster);
    await provisioned(platform, instance, cluster.adminKubeconfig);
    const held = proxy.misbehave({ on: /./, act: { kind: 'hold' } });
    const kubeconfig = proxy.adminKubeconfig;
    const { body } = await platform.update({ instance }, { parameters: { kubeconfig } });
    await untilHeld(held);
    const inState = heldBy(proxy, { instance, operation: String(body['operation']) });
    return { ...inState, kubeconfig: cluster.adminKubeconfig, newKubeconfig: kubeconfig };
  },

  async suspending(instance, stage) {
    const { platform } = stage;
    return await whileRevoking(instance, stage, () => platform.update({ instance }, SUSPEND));
  },

  async suspended(instance, { platform, cluster }) {
    await provisioned(platform, instance, cluster.adminKubeconfig);
    await platform.update({ instance }, SUSPEND);
    await mustEndAs('succeeded', platform, instance);
    return free(instance, cluster.adminKubeconfig);
  },

  async resuming(instance, { platform, cluster }) {
    const proxy = await openClusterProxy(cluster);
    await provisioned(platform, instance, proxy.adminKubeconfig);
    await platform.update({ instance }, SUSPEND);
    await mustEndAs('succeeded', platform, instance);
    const held = proxy.misbehave({ on: /./, act: { kind: 'hold' } });
    const { body } = await platform.update({ instance }, RESUME);
    await untilHeld(held);
    return heldBy(proxy, { instance, operation: String(body['operation']) });
  },

  async deprovisioning(instance, stage) {
    const { platform } = stage;
    return await whileRevoking(instance, stage, () => platform.deprovision({ instance }));
  },

  async deleted(instance, { platform, cluster }) {
    await provisioned(platform, instance, cluster.adminKubeconfig);
    await platform.deprovision({ instance });
    await mustEndAs('succeeded', platform, instance);
    return free(instance, cluster.adminKubeconfig);
  },

  async 'create failed'(instance, { platform, cluster }) {
    const kubeconfig = withToken(cluster.adminKubeconfig, drawToken());
    await platform.provision({ instance }, kubeconfig);
    await mustEndAs('failed', platform, instance);
    return free(instance, kubeconfig);
  },
};

export const SUSPEND = { context: { active: false } };

export const RESUME = { context: { active: true } };

/** What ends an instance's bindings is held by a cluster that does not answer while one of them is to be revoked. */
async function whileRevoking(
  instance: string,
  { platform, cluster }: Stage,
  begin: () => Promise<OsbAnswer>,
): Promise<InstanceInState> {
  const proxy = await openClusterProxy(cluster);
  await provisioned(platform, instance, proxy.adminKubeconfig);
  const bound = await platform.bind({ instance, binding: 'bound' });
  if (bound.status !== 201) throw new Error(`the instance could not be bound: ${bound.status}`);
  const held = proxy.misbehave({ on: /./, act: { kind: 'hold' } });
  const { body } = await begin();
  await untilHeld(held);
  return heldBy(proxy, { instance, operation: String(body['operation']) });
}

async function provisioned(
  platform: Platform,
  instance: string,
  kubeconfig: string,
): Promise<void> {
  await platform.provision({ instance }, kubeconfig);
  await mustEndAs('succeeded', platform, instance);
}

async function mustEndAs(state: string, platform: Platform, instance: string): Promise<void> {
  const ended = await operationEnded(platform, { instance });
  if (ended !== state) throw new Error(`the operation ended as ${String(ended)}, not ${state}`);
}

async function untilHeld(held: { seen(): number }): Promise<void> {
  await until({
    what: 'a step of the operation is held by its cluster',
    limitMs: HELD_LIMIT_MS,
    isSo: () => held.seen() > 0,
  });
}

function free(instance: string, kubeconfig: string): InstanceInState {
  return { instance, kubeconfig, operation: undefined, release: () => Promise.resolve() };
}

function heldBy(
  proxy: ClusterProxy,
  { instance, operation }: { readonly instance: string; readonly operation: string },
): InstanceInState {
  return {
    instance,
    operation,
    kubeconfig: proxy.adminKubeconfig,
    release: () => proxy.stop(),
  };
}
