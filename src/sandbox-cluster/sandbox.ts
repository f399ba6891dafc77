// A small Kubernetes API server in this process, for laptops and tests: one HTTPS server, and below it as many clusters
// as are named, each with its own objects, tokens and administrator. What it is made of is kept in the store that it is
// given, so that a second start finds its clusters. Not for production: everything lies on this one machine.

import type { Clock, Draw } from './api/surroundings.ts';
import { Cluster, type ClusterSettings } from './cluster.ts';
import { runControllers } from './controllers/controllers.ts';
import { Faults } from './faults.ts';
import { SandboxServer } from './server.ts';
import type { SandboxIdentity, SandboxStore } from './store/sandbox-store.ts';
import { makeAuthority, makeClientCertificate, makeServerCertificate } from './tls/certificates.ts';
import { renderKubeconfig } from './tls/kubeconfig.ts';

export interface SandboxOptions {
  readonly store: SandboxStore;
  readonly clock: Clock;
  readonly draw: Draw;
  /**
   * Whether namespaces end, have a default account, and roles collect rules, as on a cluster with its controllers; a
   * bare API server does none of it. True unless said.
   */
  readonly controllers?: boolean;
  /** As `--service-account-max-token-expiration`; no limit unless said. */
  readonly maxTokenSeconds?: number;
  /** Told of errors that no request may cause: bugs, to be logged. They are answered by 500. */
  readonly onFault?: (error: unknown) => void;
}

export interface SandboxCluster {
  readonly name: string;
  /** For instance `https://127.0.0.1:6443/clusters/a`. */
  readonly url: string;
  /** The authority's certificate, in PEM. */
  readonly ca: string;
  /** The uid of its namespace kube-system. */
  readonly uid: string;
  /** For all rights; it does not expire. */
  readonly adminToken: string;
  readonly adminKubeconfig: string;
  /** With a client certificate for this cluster alone. */
  kubeconfigFor(user: {
    readonly commonName: string;
    readonly organizations?: readonly string[];
  }): Promise<string>;
}

export interface Sandbox {
  /**
   * `port` 0 is the port of the last start, or a free one at the first. Throws where the port is taken: clusters are
   * known by it, so it does not take another.
   */
  start(at: { readonly host: string; readonly port: number }): Promise<void>;
  /** Of the server, without a cluster's path. Throws before the start. */
  readonly url: string;
  /** Founded where it is missing. Throws before the start, and for a name that is no label of DNS. */
  clusterNamed(name: string): SandboxCluster;
  hasCluster(name: string): boolean;
  clusterNames(): readonly string[];
  /** Its requests are answered by 404 from then on. A repeat changes nothing. */
  removeCluster(name: string): void;
  readonly faults: Faults;
  /** Cuts what is in flight. A repeat changes nothing; a new start is possible. */
  stop(): Promise<void>;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  return new RunningSandbox(options);
}

const CLUSTER_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

interface Open {
  readonly cluster: Cluster;
  readonly stopControllers: () => void;
}

interface Started {
  readonly server: SandboxServer;
  readonly identity: SandboxIdentity;
  readonly url: string;
}

class RunningSandbox implements Sandbox {
  readonly faults = new Faults();
  readonly #options: SandboxOptions;
  readonly #settings: ClusterSettings;
  readonly #open = new Map<string, Open>();
  #started: Started | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#settings = { maxTokenSeconds: options.maxTokenSeconds };
  }

  async start({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
    if (this.#started !== undefined) throw new Error('the sandbox is started already');
    const { store } = this.#options;
    const kept = store.readIdentity();
    const identity = await this.#identityFor(host, kept);
    const server = new SandboxServer({
      authority: identity.authority,
      certificate: identity.server,
      faults: this.faults,
      onFault: this.#options.onFault ?? (() => undefined),
      clusterNamed: (name) => this.#open.get(name)?.cluster,
    });
    for (const name of store.clusterNames()) this.#openCluster(name);
    const taken = await server
      .listen(host, port === 0 ? identity.port : port)
      .catch((error: unknown) => {
        this.#closeClusters();
        throw error;
      });
    const known = { ...identity, port: taken };
    if (kept?.port !== taken || kept.server !== identity.server) store.writeIdentity(known);
    this.#started = { server, identity: known, url: `https://${inUrl(host)}:${taken}` };
  }

  get url(): string {
    return this.#running().url;
  }

  clusterNamed(name: string): SandboxCluster {
    const { identity, url } = this.#running();
    if (!CLUSTER_NAME.test(name)) throw new Error(`no name of a sandbox cluster: ${name}`);
    const { cluster } = this.#open.get(name) ?? this.#openCluster(name);
    const address = {
      name,
      server: `${url}/clusters/${name}`,
      authorityPem: identity.authority.certPem,
    };
    const { clock, draw } = this.#options;
    return {
      name,
      url: address.server,
      ca: address.authorityPem,
      uid: cluster.uid,
      adminToken: cluster.adminToken,
      adminKubeconfig: renderKubeconfig({ ...address, user: { token: cluster.adminToken } }),
      async kubeconfigFor({ commonName, organizations = [] }) {
        const user = await makeClientCertificate(
          identity.authority,
          { commonName, organizations, clusterUid: cluster.uid },
          { now: clock(), draw },
        );
        return renderKubeconfig({ ...address, user });
      },
    };
  }

  hasCluster(name: string): boolean {
    return this.#open.has(name);
  }

  clusterNames(): readonly string[] {
    return [...this.#open.keys()];
  }

  removeCluster(name: string): void {
    if (!this.#open.has(name)) return;
    this.#closeCluster(name);
    this.#options.store.removeJournal(name);
  }

  async stop(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    if (started === undefined) return;
    this.faults.clear();
    await started.server.close();
    this.#closeClusters();
  }

  #closeClusters(): void {
    for (const name of this.#open.keys()) this.#closeCluster(name);
  }

  #running(): Started {
    if (this.#started === undefined) throw new Error('the sandbox is not started');
    return this.#started;
  }

  #openCluster(name: string): Open {
    const { store, clock, draw, controllers = true } = this.#options;
    const journal = store.openJournal(name);
    const cluster = new Cluster(name, journal, { clock, draw, settings: this.#settings });
    const stopControllers = controllers ? runControllers(cluster) : () => undefined;
    const open = { cluster, stopControllers };
    this.#open.set(name, open);
    return open;
  }

  #closeCluster(name: string): void {
    const open = this.#open.get(name);
    if (open === undefined) return;
    this.#open.delete(name);
    this.#started?.server.endStreams(open.cluster);
    open.stopControllers();
    open.cluster.objects.close();
  }

  async #identityFor(host: string, kept: SandboxIdentity | undefined): Promise<SandboxIdentity> {
    if (kept?.serverNames.includes(host) === true) return kept;
    const order = { now: this.#options.clock(), draw: this.#options.draw };
    const authority = kept?.authority ?? (await makeAuthority(order));
    const serverNames = [...new Set(['127.0.0.1', '::1', 'localhost', host])];
    const server = await makeServerCertificate(authority, serverNames, order);
    return { authority, server, serverNames, port: kept?.port ?? 0 };
  }
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
