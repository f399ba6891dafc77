// Who writes, and the policies of the cluster that may forbid it.

import type { User } from '../api/user.ts';
import type { Cluster } from '../cluster.ts';
import {
  checkPolicies,
  POLICIES,
  POLICY_BINDINGS,
  type Write,
} from '../kinds/admission-policies.ts';

export interface Writer {
  readonly cluster: Cluster;
  readonly user: User;
  /** Everything is checked and answered, nothing kept. */
  readonly isDryRun: boolean;
}

/** Throws the 422 of a policy that denies it. */
export function checkWrite({ objects }: Cluster, write: Write): void {
  checkPolicies(write, {
    of: (name) => objects.get({ resource: POLICIES, name }),
    bindings: objects.each(POLICY_BINDINGS),
  });
}
