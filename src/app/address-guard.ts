// The guard of addresses of own clusters, told what of the broker is where.
import { promises as dns } from 'node:dns';
import { networkInterfaces } from 'node:os';
import type { Config, DatabaseSetting } from '../config/config.ts';
import { isLoopback } from '../config/listen-address.ts';
import { AddressGuard, endpointOf, type OwnEndpoint } from '../kubernetes/address-guard.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';

/** What listens, once it does. */
export interface Listening {
  addresses(): readonly (string | { readonly address: string; readonly port: number })[];
}

export interface OwnSystems {
  /** May still be filled after this. */
  readonly listening: readonly Listening[];
  /** Undefined where none is configured. */
  readonly controlPlane: Pick<ClusterAccess, 'server'> | undefined;
}

export function addressGuard(
  { clusterAddresses, publicListen, database }: Config,
  { listening, controlPlane }: OwnSystems,
): AddressGuard {
  const systems = [
    ...databaseEndpoints(database),
    ...(controlPlane === undefined ? [] : [endpointOf(controlPlane.server)]),
  ];
  return new AddressGuard({
    law: { ...clusterAddresses, allowsLoopback: isLoopback(publicListen) },
    ownEndpoints: () => [
      ...systems,
      // A text is the path of a socket in the file system.
      ...listening
        .flatMap((server) => server.addresses())
        .filter((at) => typeof at !== 'string')
        .map(({ address, port }) => ({ host: address, port })),
    ],
    localAddresses: () =>
      Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)),
    resolve: (host, options) => dns.lookup(host, options),
  });
}

const POSTGRES_PORT = 5432;

/** None where the URL leads to a socket in the file system. */
function databaseEndpoints(database: DatabaseSetting): readonly OwnEndpoint[] {
  if (database.kind === 'embedded') {
    return [];
  }
  const { hostname, port, searchParams } = new URL(database.url.reveal());
  const host = (searchParams.get('host') ?? decodeURIComponent(hostname)).replaceAll(/[[\]]/g, '');
  const named = searchParams.get('port') ?? port;
  return host === '' || host.startsWith('/')
    ? []
    : [{ host, port: named === '' ? POSTGRES_PORT : Number(named) }];
}
