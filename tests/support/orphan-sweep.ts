// Sweeps for orphans as a test wants them: at once, by a clock of its own that runs ahead. The broker's own sweeps, which
// go by another clock, find no turn of theirs meanwhile.

import { randomBytes } from 'node:crypto';

import {
  type OrphanOptions,
  type OrphanReport,
  removeOrphanGrants,
} from '../../src/background/remove-orphan-grants.ts';
import type { Broker } from '../../src/broker/broker.ts';
import { makeMark } from '../../src/kubernetes/grant-mark.ts';
import { grantName } from '../../src/kubernetes/grant-name.ts';
import type { ClusterClient } from '../../src/kubernetes/cluster-client.ts';
import { type IssuedGrant, issueGrant } from '../../src/kubernetes/token-request-issuer.ts';
import { recordSecret } from './leak-record.ts';
import type { LedgerEyes } from './ledger-dump.ts';

const MINUTE_MS = 60_000;
const MONTH_MS = 30 * 24 * 60 * MINUTE_MS;

export interface Sweeper {
  readonly broker: Broker;
  now(): Date;
  /** Of all clusters, or of that one; what was left of an earlier scan is gone on with. */
  sweep(options?: Partial<OrphanOptions> & { readonly clusterUid?: string }): Promise<OrphanReport>;
  /** Makes the turn of these clusters come, and of no other ones; for the sweeper's clock alone. */
  makeDue(clusterUid?: string): Promise<void>;
}

/** Longer than a test, for what it makes to be of any age. */
export function sweeperOf(broker: Broker, ledger: LedgerEyes, aheadMs = MONTH_MS): Sweeper {
  const now = (): Date => new Date(broker.clock().getTime() + aheadMs);
  const sweeping = { ...broker, clock: now };
  const makeDue = async (clusterUid?: string): Promise<void> => {
    const at = new Date(now().getTime() - MINUTE_MS);
    await ledger.sql(
      `update instances set next_scan_at = $1
      where cluster_uid is not null and ($2::text is null or cluster_uid = $2)`,
      [at, clusterUid ?? null],
    );
  };
  return {
    broker: sweeping,
    now,
    makeDue,
    async sweep({ clusterUid, ...options } = {}) {
      await makeDue(clusterUid);
      return removeOrphanGrants(sweeping, { signal: new AbortController().signal, ...options });
    },
  };
}

export interface Planted extends IssuedGrant {
  readonly name: string;
}

export interface PlantOrder {
  /** The time inside its mark. */
  readonly markedAt: Date;
  readonly namespace?: string;
  readonly name?: string;
  readonly mark?: string;
  readonly installation?: string;
}

/** The objects of a grant as the broker itself would have made them, without a row. */
export async function plantGrant(
  client: ClusterClient,
  broker: Broker,
  order: PlantOrder,
): Promise<Planted> {
  const bindingId = `planted-${randomBytes(6).toString('hex')}`;
  const {
    markedAt,
    namespace = 'kyma-system',
    name = grantName(bindingId, (length) => randomBytes(length).toString('hex').slice(0, length)),
  } = order;
  const marker = broker.marker();
  const issued = await issueGrant(client, {
    name,
    namespace,
    mark: order.mark ?? makeMark(marker, { name, issuedAt: markedAt }),
    installation: order.installation ?? marker.installation,
    bindingId,
    instanceId: 'planted',
    expirationSeconds: 3_600,
    clock: broker.clusterClock,
  });
  recordSecret('token of a planted grant', issued.token.reveal());
  return { ...issued, name };
}
