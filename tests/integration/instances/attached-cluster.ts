// What tests of instances give a broker and a platform: keys that outlive one broker, and kubeconfigs that differ from
// a good one in one thing.

import { randomBytes } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { recordSecret } from '../../support/leak-record.ts';

/** The value of RUNTIME_BROKER_SEALING_KEYS, for brokers that follow each other on one database. */
export function drawSealingKeys(): string {
  const key = randomBytes(32).toString('base64');
  recordSecret('sealing key', key);
  return `first:${key}`;
}

/** A token that no cluster has issued. */
export function drawToken(): string {
  const token = randomBytes(24).toString('base64url');
  recordSecret('token of a kubeconfig', token);
  return token;
}

export interface KubeconfigContent {
  clusters: { name: string; cluster: Record<string, unknown> }[];
  users: { name: string; user: Record<string, unknown> }[];
  contexts: { name: string; context: Record<string, unknown> }[];
  [field: string]: unknown;
}

/** The one entry of each list that the kubeconfigs of tests have. */
export interface KubeconfigParts {
  readonly file: KubeconfigContent;
  readonly cluster: Record<string, unknown>;
  readonly user: Record<string, unknown>;
  readonly context: Record<string, unknown>;
}

/** A kubeconfig with a change made to its content. */
export function changedKubeconfig(
  kubeconfig: string,
  change: (parts: KubeconfigParts) => void,
): string {
  const file = parse(kubeconfig) as KubeconfigContent;
  const [cluster] = file.clusters;
  const [user] = file.users;
  const [context] = file.contexts;
  if (cluster === undefined || user === undefined || context === undefined) {
    throw new Error('the kubeconfig lacks a cluster, a user or a context');
  }
  change({ file, cluster: cluster.cluster, user: user.user, context: context.context });
  return stringify(file, { lineWidth: 0 });
}

/** The same cluster with a bearer token for its only credential. */
export function withToken(kubeconfig: string, token: string): string {
  return changedKubeconfig(kubeconfig, ({ file }) => {
    file.users = file.users.map(({ name }) => ({ name, user: { token } }));
  });
}
