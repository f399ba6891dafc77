// Grants for the tests of a cluster: orders with names of their own, so that files can share a cluster, and what is
// needed to issue, use and revoke them.

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Secret } from '../../src/domain/secret.ts';
import { ClusterClient } from '../../src/kubernetes/cluster-client.ts';
import { makeMark, type Marker, verifyMarkOf } from '../../src/kubernetes/grant-mark.ts';
import { grantName } from '../../src/kubernetes/grant-name.ts';
import { readKubeconfig } from '../../src/kubernetes/read-kubeconfig.ts';
import { renderKubeconfig } from '../../src/kubernetes/render-kubeconfig.ts';
import type { RevocationTarget, RevocationTools } from '../../src/kubernetes/revoke-grant.ts';
import {
  type GrantOrder,
  issueGrant,
  type IssuedGrant,
} from '../../src/kubernetes/token-request-issuer.ts';
import { recordSecret } from './leak-record.ts';

/** The lowest that Kubernetes grants. */
const LIFETIME_SECONDS = 600;

export const GRANTS_NAMESPACE = 'grants-of-tests';

export interface Grant {
  readonly order: GrantOrder;
  readonly issued: IssuedGrant;
  /** As the broker knows it after a successful issue. */
  readonly target: RevocationTarget;
  readonly kubeconfig: string;
}

export interface Grants {
  readonly client: ClusterClient;
  readonly tools: RevocationTools;
  newOrder(change?: Partial<GrantOrder>): GrantOrder;
  issue(change?: Partial<GrantOrder>): Promise<Grant>;
  /** The status that a request with the token gets. */
  statusOf(grant: Grant, path?: string): Promise<number>;
  close(): Promise<void>;
}

export function grantsOn(adminKubeconfig: string): Grants {
  const client = new ClusterClient(readKubeconfig(adminKubeconfig));
  const marker: Marker = { key: new Secret(randomBytes(32)), installation: randomUUID() };
  const newOrder = (change: Partial<GrantOrder> = {}): GrantOrder => {
    const bindingId = randomUUID();
    const name = grantName(bindingId, (length) =>
      randomBytes(length).toString('hex').slice(0, length),
    );
    return {
      name,
      namespace: GRANTS_NAMESPACE,
      mark: makeMark(marker, { name, issuedAt: new Date() }),
      installation: marker.installation,
      bindingId,
      instanceId: randomUUID(),
      expirationSeconds: LIFETIME_SECONDS,
      clock: () => new Date(),
      ...change,
    };
  };
  return {
    client,
    tools: {
      isMarked: (object) => verifyMarkOf(marker, object) !== undefined,
      sleep: (delayMs, signal) => sleep(delayMs, undefined, signal === undefined ? {} : { signal }),
    },
    newOrder,
    async issue(change) {
      const order = newOrder(change);
      const issued = await issueGrant(client, order);
      recordSecret('token of a grant', issued.token.reveal());
      return grantOf(client, order, issued);
    },
    statusOf: ({ issued }, path = '/api/v1/namespaces?limit=1') =>
      client.statusWith(issued.token, { path, action: 'use a token' }),
    close: () => client.close(),
  };
}

function grantOf({ access }: ClusterClient, order: GrantOrder, issued: IssuedGrant): Grant {
  const { token, uids } = issued;
  const { credential: _, ...address } = access;
  return {
    order,
    issued,
    target: { name: order.name, namespace: order.namespace, uids, token },
    kubeconfig: renderKubeconfig({ name: 'runtime', ...address, token }),
  };
}
