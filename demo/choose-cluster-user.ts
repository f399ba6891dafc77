// Which program uses the kubeconfig: kubectl where the machine has one, else a client library that is installed anyway.

import { findParts, thisMachine } from '../tests/support/real-parts/find.ts';
import { ClientLibrary } from './client-library.ts';
import type { ClusterUser } from './cluster-user.ts';
import type { Environment } from './environment.ts';
import { Kubectl } from './kubectl.ts';

/** The one that `npm run real-parts` built, before the PATH's. @returns its path, or undefined */
export function findKubectl(env: Environment): string | undefined {
  const { kubectl } = findParts(thisMachine(env));
  return kubectl.found ? kubectl.path : undefined;
}

/** @param home where kubectl may keep its cache */
export function chooseClusterUser(kubectl: string | undefined, home: string): ClusterUser {
  return kubectl === undefined ? new ClientLibrary() : new Kubectl(kubectl, home);
}
