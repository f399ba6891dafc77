// What operators read, as it is on the wire; names end here. No credential is among what it is made of.
import type { BindingsPage } from '../../broker/list-bindings.ts';
import { toWireTime } from '../../domain/wire-time.ts';

export type ShownGrant = BindingsPage['bindings'][number];

export function fromGrant(grant: ShownGrant) {
  const { expiresAt, revokingSince } = grant;
  return {
    instanceID: grant.instanceId,
    bindingID: grant.bindingId,
    state: grant.state,
    grant: grant.grantName,
    createdAt: toWireTime(grant.createdAt),
    createdBy: grant.createdBy,
    ...(expiresAt === undefined ? {} : { expiresAt: toWireTime(expiresAt) }),
    instanceDeleted: grant.instanceDeleted,
    ...(revokingSince === undefined ? {} : { revokingSince: toWireTime(revokingSince) }),
    ...(grant.state === 'stuck' ? fromFailures(grant) : {}),
  };
}

function fromFailures({ lastError, tries, nextTryAt }: ShownGrant) {
  return {
    ...(lastError === undefined ? {} : { cause: lastError }),
    tries,
    ...(nextTryAt === undefined ? {} : { nextTryAt: toWireTime(nextTryAt) }),
  };
}
