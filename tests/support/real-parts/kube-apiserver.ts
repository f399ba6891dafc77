// Starts a real kube-apiserver on its own etcd, with certificates made for it. No controller manager runs: namespaces do
// not finish deleting, and nobody makes default service accounts.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { until } from '../until.ts';
import {
  type ClientIdentity,
  createAuthority,
  createSigningKey,
  issueClientCertificate,
  issueServerCertificate,
  type KeyPair,
} from './certificates.ts';
import { onFreePort } from './free-port.ts';
import { type GuardedFolder, openGuardedFolder } from './guarded-folder.ts';
import { ADMIN, kubeconfigFor } from './kubeconfig-text.ts';
import { type StartedProcess, startProcess } from './started-process.ts';

export interface ClusterBinaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
}

export interface KubeApiserver {
  /** For instance `https://127.0.0.1:23456`. */
  readonly server: string;
  /** The authority of the server's certificate, and of every client certificate that it trusts. */
  readonly authority: KeyPair;
  readonly adminKubeconfig: string;
  kubeconfigFor(identity: ClientIdentity): Promise<string>;
  /** Ends the API server at once; its etcd keeps the objects. */
  kill(): Promise<void>;
  /** Starts it again on the same port; `asAnotherCluster` with an empty store: same address and certificates, another cluster. */
  restart(options?: { readonly asAnotherCluster?: boolean }): Promise<void>;
  /** Ends everything and removes the folder. */
  stop(): Promise<void>;
}

interface Place {
  readonly binaries: ClusterBinaries;
  readonly folder: GuardedFolder;
  readonly flags: readonly string[];
  readonly authority: KeyPair;
  readonly admin: KeyPair;
}

/** Usual: 2 s. A machine under full load by parallel test files takes several times that. */
const READY_LIMIT_MS = 60_000;

/** A question to a local server that has no answer by then is asked anew. */
const READY_QUESTION_MS = 2_000;

const HTTP_OK = 200;

/** `flags` are added after ours and so win over them, for instance `--service-account-max-token-expiration=1h`. */
export async function startKubeApiserver(
  binaries: ClusterBinaries,
  options: { readonly flags?: readonly string[] } = {},
): Promise<KubeApiserver> {
  const folder = openGuardedFolder('cluster');
  let etcd: StartedProcess | null = null;
  try {
    const authority = await createAuthority('runtime-broker test cluster');
    const admin = await issueClientCertificate(authority, ADMIN);
    const place = { binaries, folder, flags: options.flags ?? [], authority, admin };
    await writeFiles(place);
    etcd = serveObjects(place);
    return await startOn(place, etcd);
  } catch (fault) {
    await etcd?.end();
    folder.remove();
    throw fault;
  }
}

async function startOn(place: Place, firstEtcd: StartedProcess): Promise<KubeApiserver> {
  let etcd = firstEtcd;
  const started = await onFreePort(async (port) => {
    const process = serveApi(place, port);
    await untilReady(place, process, port);
    return { process, port };
  });
  let { process } = started;
  const server = `https://127.0.0.1:${started.port}`;
  const address = { server, authority: place.authority };
  return {
    ...address,
    adminKubeconfig: await kubeconfigFor(address, ADMIN),
    kubeconfigFor: (identity) => kubeconfigFor(address, identity),
    kill: () => process.end(),
    async restart(options = {}) {
      await process.end();
      if (options.asAnotherCluster === true) {
        await etcd.end();
        rmSync(join(place.folder.path, 'etcd-data'), { recursive: true, force: true });
        etcd = serveObjects(place);
      }
      process = serveApi(place, started.port);
      await untilReady(place, process, started.port);
    },
    async stop() {
      await Promise.all([process.end(), etcd.end()]);
      place.folder.remove();
    },
  };
}

async function writeFiles({ folder, authority }: Place): Promise<void> {
  const server = await issueServerCertificate(authority, {
    dns: ['localhost', 'kubernetes.default.svc'],
    ip: ['127.0.0.1'],
  });
  const files = {
    'ca.crt': authority.certPem,
    'server.crt': server.certPem,
    'server.key': server.keyPem,
    'service-account.key': await createSigningKey(),
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder.path, name), text, { mode: 0o600 });
  }
  mkdirSync(join(folder.path, 'certificates'));
}

/** On a socket in the folder: no port to draw, and nobody else on the machine can read the objects. */
function etcdSocket(folder: GuardedFolder): string {
  return `unix://${join(folder.path, 'etcd.sock')}`;
}

function serveObjects({ binaries, folder }: Place): StartedProcess {
  const unusedPeer = 'http://127.0.0.1:0';
  const flags = {
    name: 'test',
    'data-dir': join(folder.path, 'etcd-data'),
    'listen-client-urls': etcdSocket(folder),
    // Must be an address with a port, though nobody learns of it: the API server is told the socket.
    'advertise-client-urls': 'http://127.0.0.1:1',
    'listen-peer-urls': unusedPeer,
    'initial-advertise-peer-urls': unusedPeer,
    'initial-cluster': `test=${unusedPeer}`,
    'unsafe-no-fsync': 'true',
    'log-level': 'warn',
  };
  return startProcess({
    name: 'etcd',
    command: binaries.etcd,
    args: asFlags(flags),
    folder,
    endSignal: 'SIGKILL',
  });
}

function serveApi({ binaries, folder, flags }: Place, port: number): StartedProcess {
  const file = (name: string) => join(folder.path, name);
  const ours = {
    'etcd-servers': etcdSocket(folder),
    'secure-port': String(port),
    'bind-address': '127.0.0.1',
    // Without these two the API server looks for a network that others reach it by, and fails on a machine that has none.
    'advertise-address': '127.0.0.1',
    'endpoint-reconciler-type': 'none',
    'cert-dir': file('certificates'),
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'client-ca-file': file('ca.crt'),
    'service-account-key-file': file('service-account.key'),
    'service-account-signing-key-file': file('service-account.key'),
    'service-account-issuer': 'https://kubernetes.default.svc',
    'authorization-mode': 'RBAC',
    'service-cluster-ip-range': '10.0.0.0/24',
    // Would refuse pods of namespaces whose default account nobody makes here.
    'disable-admission-plugins': 'ServiceAccount',
  };
  return startProcess({
    name: 'kube-apiserver',
    command: binaries.kubeApiserver,
    args: [...asFlags(ours), ...flags],
    folder,
    endSignal: 'SIGKILL',
  });
}

function asFlags(flags: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}

async function untilReady(place: Place, process: StartedProcess, port: number): Promise<void> {
  await until({
    what: 'kube-apiserver is ready',
    limitMs: READY_LIMIT_MS,
    isSo: async () => (await readyStatus(place, port)) === HTTP_OK,
    isHopeless: () => (process.hasExited() ? `it has ended:\n${process.logTail()}` : null),
  });
}

function readyStatus({ authority, admin }: Place, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const question = request({
      host: '127.0.0.1',
      port,
      path: '/readyz',
      ca: authority.certPem,
      cert: admin.certPem,
      key: admin.keyPem,
      agent: false,
      timeout: READY_QUESTION_MS,
    });
    question.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    question.on('timeout', () => question.destroy(new Error('no answer from /readyz')));
    question.on('error', reject);
    question.end();
  });
}
