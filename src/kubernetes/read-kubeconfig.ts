// Turns a tenant's kubeconfig into access to a cluster. Only the cluster and the user of the current context are
// read, and of those only fields that can neither run a program, read a file nor weaken TLS on this side
// (docs/api.md, "Attach a cluster"). Whether the address may be called is left to the provisioner.

import { BrokerError } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import type { ClusterAccess, ClusterCredential } from './cluster-access.ts';
import { KubeconfigFormError, type KubeconfigMap, parseKubeconfigYaml } from './kubeconfig-yaml.ts';
import { checkCertificates, checkClientKey } from './pem-data.ts';

/** Throws a BrokerError `invalid-parameters` that names the field at fault and never quotes a value. */
export function readKubeconfig(text: string): ClusterAccess {
  try {
    return readAccess(parseKubeconfigYaml(text));
  } catch (error) {
    if (!(error instanceof KubeconfigFormError)) throw error;
    const description = `kubeconfig: ${error.message}`;
    throw new BrokerError({ code: 'invalid-parameters', description }, { cause: error });
  }
}

/** @returns what is wrong with a kubeconfig of our own configuration, as a noun phrase that quotes none of it */
export function kubeconfigFault(text: Secret): string | undefined {
  try {
    readAccess(parseKubeconfigYaml(text.reveal()));
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeconfigFormError)) throw error;
    return `a file in which something is not as it must be (${error.message})`;
  }
}

function readAccess(file: KubeconfigMap): ClusterAccess {
  allowOnly(file, '', {
    read: ['apiVersion', 'kind', 'current-context', 'clusters', 'contexts', 'users'],
    ignored: ['preferences', 'extensions'],
  });
  expectConstant(file, 'apiVersion', 'v1');
  expectConstant(file, 'kind', 'Config');
  const context = readEntry(file, 'context', {
    name: requiredText(file, 'current-context', ''),
    wanted: 'current-context',
  });
  allowOnly(context, 'contexts[].context', {
    read: ['cluster', 'user'],
    ignored: ['namespace', 'extensions'],
  });
  const cluster = readEntry(file, 'cluster', {
    name: requiredText(context, 'cluster', 'contexts[].context'),
    wanted: 'contexts[].context.cluster',
  });
  const user = readEntry(file, 'user', {
    name: requiredText(context, 'user', 'contexts[].context'),
    wanted: 'contexts[].context.user',
  });
  return { ...readCluster(cluster), credential: readCredential(user) };
}

function readCluster(cluster: KubeconfigMap): Omit<ClusterAccess, 'credential'> {
  const where = 'clusters[].cluster';
  allowOnly(cluster, where, {
    read: ['server', 'certificate-authority-data', 'tls-server-name'],
    ignored: ['disable-compression', 'extensions'],
  });
  const server = requiredText(cluster, 'server', where);
  checkServer(server, `${where}.server`);
  const certificateAuthorityData = optionalText(cluster, 'certificate-authority-data', where);
  if (certificateAuthorityData !== undefined) {
    checkCertificates(certificateAuthorityData, `${where}.certificate-authority-data`);
  }
  const tlsServerName = optionalText(cluster, 'tls-server-name', where);
  if (tlsServerName !== undefined && !HOST_NAME.test(tlsServerName)) {
    throw new KubeconfigFormError(`${where}.tls-server-name is not a host name`);
  }
  return {
    server,
    ...(certificateAuthorityData === undefined ? {} : { certificateAuthorityData }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
  };
}

function readCredential(user: KubeconfigMap): ClusterCredential {
  const where = 'users[].user';
  const fields = { token: 'token', certificate: 'client-certificate-data', key: 'client-key-data' };
  allowOnly(user, where, { read: Object.values(fields), ignored: ['extensions'] });
  const token = optionalText(user, fields.token, where);
  const certificateData = optionalText(user, fields.certificate, where);
  const keyData = optionalText(user, fields.key, where);
  if (token !== undefined && certificateData === undefined && keyData === undefined) {
    if (!BEARER_TOKEN.test(token)) {
      throw new KubeconfigFormError(`${where}.token has characters that no bearer token has`);
    }
    return { kind: 'token', token: new Secret(token) };
  }
  if (token !== undefined || certificateData === undefined || keyData === undefined) {
    throw new KubeconfigFormError(
      `${where} must have either token, or client-certificate-data and client-key-data`,
    );
  }
  const [certificate] = checkCertificates(certificateData, `${where}.${fields.certificate}`);
  checkClientKey(keyData, certificate, `${where}.${fields.key}`);
  return { kind: 'certificate', certificateData, keyData: new Secret(keyData) };
}

/** RFC 6750, 2.1, and somewhat more: printable ASCII without spaces, so that it cannot end the header it goes into. */
const BEARER_TOKEN = /^[\x21-\x7e]{1,16384}$/;

const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** Stricter than URL, which mends what it is given: backslashes, line breaks, a single slash. */
const SERVER = /^https:\/\/[^/\\?#@\s]+(\/[^\\?#@\s]*)?$/i;

/** Longer than any host and path of an API server. */
const MAX_SERVER_LENGTH = 2_048;

function checkServer(server: string, where: string): void {
  if (!/^https:/i.test(server)) throw new KubeconfigFormError(`${where} must be an https address`);
  const isSound = server.length <= MAX_SERVER_LENGTH && SERVER.test(server) && URL.canParse(server);
  if (!isSound) {
    throw new KubeconfigFormError(
      `${where} must be https://host[:port][/path], without user, query and fragment`,
    );
  }
}

/** The inner map of the one entry of that name in `clusters`, `contexts` or `users`; the others stay unread. */
function readEntry(
  file: KubeconfigMap,
  field: 'cluster' | 'context' | 'user',
  { name, wanted }: { readonly name: string; readonly wanted: string },
): KubeconfigMap {
  const list = `${field}s`;
  const entries: unknown = file.get(list);
  if (!Array.isArray(entries)) throw new KubeconfigFormError(`${list} is missing or no list`);
  const named = entries.filter(
    (entry: unknown): entry is KubeconfigMap => entry instanceof Map && entry.get('name') === name,
  );
  const [entry, second] = named;
  if (entry === undefined) {
    throw new KubeconfigFormError(`${list} has no entry that ${wanted} names`);
  }
  if (second !== undefined) {
    throw new KubeconfigFormError(`${list} has two entries that ${wanted} names`);
  }
  allowOnly(entry, `${list}[]`, { read: ['name', field], ignored: [] });
  const inner = entry.get(field);
  if (!(inner instanceof Map)) {
    throw new KubeconfigFormError(`${list}[].${field} is missing or no map`);
  }
  return inner;
}

function allowOnly(
  map: KubeconfigMap,
  where: string,
  fields: { readonly read: readonly string[]; readonly ignored: readonly string[] },
): void {
  for (const field of map.keys()) {
    if (
      typeof field === 'string' &&
      (fields.read.includes(field) || fields.ignored.includes(field))
    ) {
      continue;
    }
    throw new KubeconfigFormError(`${at(where, printable(field))} is not allowed`);
  }
}

/** A field's name is said, so that it can be found; what does not look like one might be a misplaced value. */
function printable(field: unknown): string {
  return typeof field === 'string' && /^[A-Za-z][A-Za-z-]{0,39}$/.test(field) ? field : '(a field)';
}

function expectConstant(map: KubeconfigMap, field: string, constant: string): void {
  const text = optionalText(map, field, '');
  if (text !== undefined && text !== constant) {
    throw new KubeconfigFormError(`${field} must be ${constant}`);
  }
}

function requiredText(map: KubeconfigMap, field: string, where: string): string {
  const text = optionalText(map, field, where);
  if (text === undefined) throw new KubeconfigFormError(`${at(where, field)} is missing`);
  return text;
}

/** Absent, null and empty are the same, as kubectl has it. */
function optionalText(map: KubeconfigMap, field: string, where: string): string | undefined {
  const value = map.get(field) ?? '';
  if (typeof value !== 'string') throw new KubeconfigFormError(`${at(where, field)} must be text`);
  return value === '' ? undefined : value;
}

function at(where: string, field: string): string {
  return where === '' ? field : `${where}.${field}`;
}
