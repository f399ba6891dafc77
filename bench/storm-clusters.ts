// The clusters of the storm, as a process of their own, so that what they cost is not counted as the broker's. Speaks
// with its parent over the channel of `fork`: asked for clusters, it tells their kubeconfigs; told of faults, it has
// them.
import { randomInt, randomUUID } from 'node:crypto';
import type { FaultAct } from '../src/sandbox-cluster/faults.ts';
import { createSandbox } from '../src/sandbox-cluster/sandbox.ts';
import { memoryStore } from '../src/sandbox-cluster/store/memory-store.ts';

export type Order =
  | { readonly kind: 'open'; readonly names: readonly string[] }
  | { readonly kind: 'misbehave'; readonly name: string; readonly act: FaultAct }
  | { readonly kind: 'end' };

export type Report =
  | { readonly kind: 'opened'; readonly kubeconfigs: readonly string[] }
  | { readonly kind: 'misbehaving' }
  | { readonly kind: 'ended'; readonly cpuSeconds: number };

const sandbox = createSandbox({
  store: memoryStore(),
  clock: () => new Date(),
  draw: {
    uuid: () => randomUUID(),
    letters: (length) => Array.from({ length }, () => randomInt(36).toString(36)).join(''),
  },
  controllers: false,
});

function carryOut(order: Order): Report {
  switch (order.kind) {
    case 'open': {
      const clusters = order.names.map((name) => sandbox.clusterNamed(name));
      return {
        kind: 'opened',
        kubeconfigs: clusters.map(({ adminKubeconfig }) => adminKubeconfig),
      };
    }
    case 'misbehave':
      sandbox.faults.inject({ on: new RegExp(`/clusters/${order.name}/`), act: order.act });
      return { kind: 'misbehaving' };
    case 'end': {
      const { user, system } = process.cpuUsage();
      return { kind: 'ended', cpuSeconds: (user + system) / 1e6 };
    }
  }
}

await sandbox.start({ host: '127.0.0.1', port: 0 });
process.on('message', (order: Order) => process.send?.(carryOut(order)));
process.on('disconnect', () => process.exit());
