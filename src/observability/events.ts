// What happens in the business of the broker, one function per event and one structured line per call. The key
// `event` never changes its words, so that searches and alarms can rest on it. Facts are plain values: a credential
// is a `Secret`, and no fact here takes one.
import type { Logger } from './logger.ts';

export interface InstanceFacts {
  readonly instanceId: string;
  readonly planId: string;
  readonly operationId: string;
}

export interface BindingFacts {
  readonly instanceId: string;
  readonly bindingId: string;
}

export interface GrantFacts extends BindingFacts {
  /** Name of the grant's objects on the cluster. */
  readonly grant: string;
}

/** A provisioning was committed; the runner goes on with it. */
export function instanceProvisioningAccepted(log: Logger, facts: InstanceFacts): void {
  log.info({ event: 'instance-provisioning-accepted', ...facts }, 'provisioning accepted');
}

/** `endingGrants` is how many grants the accepting transaction ordered to end. */
export function deprovisioningAccepted(
  log: Logger,
  facts: InstanceFacts & { readonly endingGrants: number; readonly cancelsProvisioning: boolean },
): void {
  log.info({ event: 'deprovisioning-accepted', ...facts }, 'deprovisioning accepted');
}

/** `type` is what was accepted: update, suspend or resume. */
export function instanceUpdateAccepted(
  log: Logger,
  facts: InstanceFacts & { readonly type: string; readonly endingGrants: number },
): void {
  log.info({ event: 'instance-update-accepted', ...facts }, 'update accepted');
}

export interface OperationFacts {
  readonly operationId: string;
  readonly instanceKey: string;
  readonly type: string;
}

/** What the operation came to is committed. */
export function operationSucceeded(log: Logger, facts: OperationFacts): void {
  log.info({ event: 'operation-succeeded', ...facts }, 'operation succeeded');
}

/** `cause` is what the platform's user is told. */
export function operationFailed(
  log: Logger,
  facts: OperationFacts & { readonly cause: string },
): void {
  log.warn({ event: 'operation-failed', ...facts }, 'operation failed');
}

/** It has failed, and what it made is being removed; it counts as failed once that is done. `cause` as above. */
export function operationUndone(
  log: Logger,
  facts: OperationFacts & { readonly cause: string },
): void {
  log.warn({ event: 'operation-undone', ...facts }, 'operation is being undone');
}

/** The runner's claim did not hold any more: cancelled, or claimed by another. What it brought was not stored. */
export function operationTakenAway(log: Logger, facts: OperationFacts): void {
  log.info({ event: 'operation-taken-away', ...facts }, 'operation taken away from its runner');
}

/** The step is run again at that time: it waits for something, or a system failed in a way that may pass. */
export function operationPostponed(
  log: Logger,
  facts: OperationFacts & { readonly cause: string; readonly nextRunAt: Date },
): void {
  log.info({ event: 'operation-postponed', ...facts }, 'operation postponed');
}

/** The outcome was committed: from now on the credential may be handed out. */
export function bindingIssued(
  log: Logger,
  facts: GrantFacts & {
    readonly createdBy: string;
    readonly expiresAt: Date;
    /** The token's `jti`, which the cluster's own audit log carries too; undefined before Kubernetes 1.32. */
    readonly tokenId: string | undefined;
    readonly durationMs: number;
  },
): void {
  log.info({ event: 'binding-issued', ...facts }, 'binding issued');
}

/** The cluster granted less than was asked: its API server has a longest lifetime of its own. */
export function bindingLifetimeShortened(
  log: Logger,
  facts: GrantFacts & { readonly askedSeconds: number; readonly grantedSeconds: number },
): void {
  log.warn({ event: 'binding-lifetime-shortened', ...facts }, 'binding lifetime shortened');
}

/** By so many seconds the cluster is ahead of us, or behind where negative: its token was not handed out. */
export function clusterClockDiffers(
  log: Logger,
  facts: GrantFacts & { readonly differenceSeconds: number },
): void {
  log.warn({ event: 'cluster-clock-differs', ...facts }, 'clock of the cluster differs');
}

/** A repeat or a fetch got what there was. */
export function bindingHandedOutAgain(
  log: Logger,
  facts: GrantFacts & { readonly requestedBy: string },
): void {
  log.info({ event: 'binding-handed-out-again', ...facts }, 'binding handed out again');
}

/** `code` is the one of the refusal (BrokerErrorCode). */
export function bindingRefused(log: Logger, facts: BindingFacts & { readonly code: string }): void {
  log.info({ event: 'binding-refused', ...facts }, 'binding refused');
}

/** An issue did not come to its end, and was ordered to be undone. */
export function bindingIssueFailed(
  log: Logger,
  facts: GrantFacts & { readonly code: string; readonly undone: boolean },
): void {
  log.warn({ event: 'binding-issue-failed', ...facts }, 'binding could not be issued');
}

/** `proof` says what showed that nothing of the grant works any more. */
export function bindingEnded(log: Logger, facts: GrantFacts & { readonly proof: string }): void {
  log.info({ event: 'binding-ended', ...facts }, 'binding ended');
}

/** An attempt that had ended without an outcome was looked at once more: a paused writer's calls had arrived after it. */
export function lateObjectsRemoved(
  log: Logger,
  facts: GrantFacts & { readonly proof: string },
): void {
  log.warn({ event: 'late-objects-removed', ...facts }, 'objects that arrived late removed');
}

/** It could not be revoked now, and is tried again. */
export function revocationPostponed(
  log: Logger,
  facts: GrantFacts & { readonly cause: string; readonly tries: number; readonly nextTryAt: Date },
): void {
  log.warn({ event: 'revocation-postponed', ...facts }, 'revocation postponed');
}

/** An object has our name and is not ours, by its uid or its mark; it was not touched. */
export function foreignObjectLeftAlone(
  log: Logger,
  facts: GrantFacts & { readonly kind: string; readonly uid: string | undefined },
): void {
  log.warn({ event: 'foreign-object-left-alone', ...facts }, 'foreign object left alone');
}

/** Somebody ended the grant while it was being issued; what its writer brought was not stored. */
export function lateWriterFenced(log: Logger, facts: GrantFacts): void {
  log.warn({ event: 'late-writer-fenced', ...facts }, 'late outcome refused');
}

export interface ClusterFacts {
  readonly clusterUid: string;
  /** Of the instance by whose access the cluster was looked at. */
  readonly instanceId: string;
}

/** A few of many: `is` says how they were judged. */
export interface ObjectSample {
  readonly kind: string;
  readonly name: string;
  readonly is: string;
}

/** Objects with our labels that nothing proves to be ours, or that only have the name of one of ours. */
export function objectsLeftAlone(
  log: Logger,
  facts: ClusterFacts & {
    readonly unmarked: number;
    readonly foreign: number;
    readonly samples: readonly ObjectSample[];
  },
): void {
  log.warn({ event: 'objects-left-alone', ...facts }, 'objects with our labels left alone');
}

/** Its row had ended, and something of it was found on its cluster; it is revoked once more. */
export function grantReopened(log: Logger, facts: GrantFacts): void {
  log.warn({ event: 'grant-reopened', ...facts }, 'an ended grant had something left');
}

/** `grant` is the name of objects that no row has and whose row cannot have been pruned; removal stops there. */
export function restoreSuspected(
  log: Logger,
  facts: ClusterFacts & { readonly grant: string },
): void {
  log.error(
    { event: 'restore-suspected', ...facts },
    'an older database seems to have been restored; orphans stay on this cluster until it is confirmed',
  );
}

/** From now on what no row has is removed on that cluster. */
export function restoreConfirmed(
  log: Logger,
  facts: ClusterFacts & { readonly actor: string; readonly reason: string },
): void {
  log.warn({ event: 'restore-confirmed', ...facts }, 'restore of an older database confirmed');
}

/** Objects with our mark and without a row are gone. */
export function orphanRemoved(
  log: Logger,
  facts: ClusterFacts & { readonly grant: string; readonly objects: number },
): void {
  log.warn({ event: 'orphan-removed', ...facts }, 'orphan removed');
}

/** They are tried again with the next scan. */
export function orphanNotRemoved(
  log: Logger,
  facts: ClusterFacts & { readonly grant: string; readonly cause: string },
): void {
  log.warn({ event: 'orphan-not-removed', ...facts }, 'orphan could not be removed');
}

/** It could not be looked through; its next turn comes as usual. */
export function clusterScanFailed(
  log: Logger,
  facts: ClusterFacts & { readonly cause: string },
): void {
  log.warn({ event: 'cluster-scan-failed', ...facts }, 'a cluster could not be scanned');
}

/** What an operator did, and why. */
export interface OperatorFacts {
  readonly actor: string;
  readonly reason: string;
}

/** An operator asked for a try before its time. */
export function revocationRetried(log: Logger, facts: GrantFacts & OperatorFacts): void {
  log.info({ event: 'revocation-retried', ...facts }, 'revocation retried by an operator');
}

/** `ordered` is how many grants were live until then. */
export interface InstanceOrderFacts extends OperatorFacts {
  readonly instanceId: string;
  readonly ordered: number;
}

/** What is left on the cluster ends as done by absence. */
export function clusterDeclaredGone(log: Logger, facts: InstanceOrderFacts): void {
  log.warn({ event: 'cluster-declared-gone', ...facts }, 'cluster declared gone by an operator');
}

/** All bindings of an instance were ordered to end. */
export function bindingsRevokedByOperator(log: Logger, facts: InstanceOrderFacts): void {
  log.warn({ event: 'bindings-revoked', ...facts }, 'bindings revoked by an operator');
}
