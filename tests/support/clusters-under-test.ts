// The clusters that the suite in tests/cluster runs against. One suite for all of them, so that a double cannot
// drift from the real thing: a further cluster is a further entry here.

import { afterAll, beforeAll } from 'vitest';

import { sharedCluster, type SharedCluster } from './cluster.ts';
import { describeWith, type Needs } from './needs.ts';
import { startTestSandbox } from './sandbox.ts';

interface ClusterUnderTest {
  readonly name: string;
  readonly needs: Needs;
  readonly start: () => Promise<{
    readonly cluster: SharedCluster;
    readonly stop: () => Promise<void>;
  }>;
}

const CLUSTERS: readonly ClusterUnderTest[] = [
  {
    name: 'a real kube-apiserver',
    needs: { cluster: true, kubectl: true },
    // It belongs to the run.
    start: () => Promise.resolve({ cluster: sharedCluster(), stop: () => Promise.resolve() }),
  },
  {
    name: 'a sandbox cluster',
    needs: { kubectl: true },
    async start() {
      const sandbox = await startTestSandbox();
      return { cluster: sandbox.openCluster('suite'), stop: () => sandbox.stop() };
    },
  },
];

/** A suite a cluster. It can be opened inside hooks and tests, not while the suite is collected. */
export function describeOnClusters(title: string, body: (open: () => SharedCluster) => void): void {
  for (const { name, needs, start } of CLUSTERS) {
    describeWith(needs, `${title}, on ${name}`, () => {
      let started: Awaited<ReturnType<typeof start>> | undefined;
      beforeAll(async () => {
        started = await start();
      });
      afterAll(() => started?.stop());
      body(() => {
        if (started === undefined) throw new Error(`${name} is open inside hooks and tests only`);
        return started.cluster;
      });
    });
  }
}
