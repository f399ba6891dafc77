// The clusters that the suite in tests/cluster runs against. One suite for all of them, so that a double cannot
// drift from the real thing: a further cluster is a further entry here.

import { sharedCluster, type SharedCluster } from './cluster.ts';
import { describeWith, type Needs } from './needs.ts';

interface ClusterUnderTest {
  readonly name: string;
  readonly needs: Needs;
  readonly open: () => SharedCluster;
}

const CLUSTERS: readonly ClusterUnderTest[] = [
  { name: 'a real kube-apiserver', needs: { cluster: true, kubectl: true }, open: sharedCluster },
];

/** A suite a cluster. The cluster is opened inside hooks and tests, not while the suite is collected. */
export function describeOnClusters(title: string, body: (open: () => SharedCluster) => void): void {
  for (const { name, needs, open } of CLUSTERS) {
    describeWith(needs, `${title}, on ${name}`, () => body(open));
  }
}
