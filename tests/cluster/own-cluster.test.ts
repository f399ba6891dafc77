// What only a cluster of the test's own can show: flags of its API server, its restart, and another cluster in its place.

import { afterAll, beforeAll, expect, it } from 'vitest';

import { readClusterUid } from '../../src/kubernetes/cluster-identity.ts';
import { ensureNamespace } from '../../src/kubernetes/namespace.ts';
import { revokeGrant } from '../../src/kubernetes/revoke-grant.ts';
import { ownCluster } from '../support/cluster.ts';
import { GRANTS_NAMESPACE, type Grants, grantsOn } from '../support/grants.ts';
import { describeWith } from '../support/needs.ts';
import type { KubeApiserver } from '../support/real-parts/kube-apiserver.ts';

describeWith({ ownCluster: true }, 'a cluster of the test', () => {
  let cluster: KubeApiserver;
  let grants: Grants;

  beforeAll(async () => {
    cluster = await ownCluster({ flags: ['--service-account-max-token-expiration=3600s'] });
    grants = grantsOn(cluster.adminKubeconfig);
    await ensureNamespace(grants.client, GRANTS_NAMESPACE);
  });
  afterAll(async () => {
    await grants.close();
    await cluster.stop();
  });

  it("may shorten a lifetime, which is then the grant's", async () => {
    const before = Date.now();
    const { issued } = await grants.issue({ expirationSeconds: 7_200 });
    const lifetimeSeconds = (issued.expiresAt.getTime() - before) / 1000;
    expect(lifetimeSeconds).toBeGreaterThan(3_590);
    expect(lifetimeSeconds).toBeLessThan(3_630);
  });

  it('is unreachable while its API server is away, and the same when it is back', async () => {
    const uid = await readClusterUid(grants.client);
    const grant = await grants.issue();
    await cluster.kill();
    await expect(grants.issue()).rejects.toMatchObject({ retryable: true });
    await expect(revokeGrant(grants.client, grant.target, grants.tools)).rejects.toMatchObject({
      retryable: true,
    });
    await cluster.restart();
    // Through connections of before and after alike.
    expect(await readClusterUid(grants.client)).toBe(uid);
    expect(await revokeGrant(grants.client, grant.target, grants.tools)).toEqual({
      proof: 'refused',
      untouched: [],
    });
  });

  it('is told from another cluster at its address', async () => {
    const uid = await readClusterUid(grants.client);
    await cluster.restart({ asAnotherCluster: true });
    expect(await readClusterUid(grants.client)).not.toBe(uid);
  });
});
