// The sandbox server of this process: its clusters lie in a folder of the data folder, and answer on loopback while it
// runs. Its code is loaded when it is started, since a broker on PostgreSQL has none.
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { Secret } from '../../domain/secret.ts';
import type { ClusterAccess } from '../../kubernetes/cluster-access.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Sandbox, SandboxOptions } from '../../sandbox-cluster/sandbox.ts';

/** Below the data folder. */
const FOLDER = 'sandbox';

/** Whoever has a kubeconfig of ours is on this machine, as the broker's own default is. */
const HOST = '127.0.0.1';

/** The port of the last start, since kubeconfigs that were handed out name it; at the first start a free one. */
const KEPT_PORT = 0;

export type SandboxHostParts = Pick<SandboxOptions, 'clock' | 'draw'> & {
  /** This process holds its lock from before the start until after the stop. */
  readonly dataFolder: string;
  readonly log: Logger;
};

export class SandboxHost {
  readonly #parts: SandboxHostParts;
  #sandbox: Sandbox | undefined;

  constructor(parts: SandboxHostParts) {
    this.#parts = parts;
  }

  /** Once. @throws Error whose message is for whoever started the process, when the clusters cannot be served */
  async start(): Promise<void> {
    const { dataFolder, clock, draw, log } = this.#parts;
    const folder = join(dataFolder, FOLDER);
    const [{ createSandbox }, { fileStore }] = await Promise.all([
      import('../../sandbox-cluster/sandbox.ts'),
      import('../../sandbox-cluster/store/file-store.ts'),
    ]);
    try {
      const sandbox = createSandbox({
        store: fileStore(folder),
        clock,
        draw,
        onFault: (error) => log.error({ err: error }, 'the sandbox met a bug of its own'),
      });
      await sandbox.start({ host: HOST, port: KEPT_PORT });
      this.#sandbox = sandbox;
      log.info({ url: sandbox.url, clusters: sandbox.clusterNames().length }, 'sandbox started');
    } catch (error) {
      throw new Error(sentenceFor(error, folder), { cause: error });
    }
  }

  /** Cuts what is in flight. A repeat changes nothing, and so does a stop without a start. */
  async stop(): Promise<void> {
    await this.#sandbox?.stop();
  }

  /** Where it listens, once it does. */
  addresses(): readonly Pick<AddressInfo, 'address' | 'port'>[] {
    return this.#sandbox === undefined
      ? []
      : [{ address: HOST, port: Number(new URL(this.#sandbox.url).port) }];
  }

  /** A repeat changes nothing. */
  makeCluster(name: string): void {
    this.#started().clusterNamed(name);
  }

  /** With all that is in it. A repeat changes nothing. */
  removeCluster(name: string): void {
    this.#started().removeCluster(name);
  }

  /** For all rights; undefined where there is no cluster of that name. */
  accessTo(name: string): ClusterAccess | undefined {
    const sandbox = this.#started();
    // Asked first, since naming one would make it.
    if (!sandbox.hasCluster(name)) return undefined;
    const { url, ca, adminToken } = sandbox.clusterNamed(name);
    return {
      server: url,
      certificateAuthorityData: Buffer.from(ca).toString('base64'),
      credential: { kind: 'token', token: new Secret(adminToken) },
    };
  }

  #started(): Sandbox {
    if (this.#sandbox === undefined) throw new Error('the sandbox of this process is not started');
    return this.#sandbox;
  }
}

function sentenceFor(error: unknown, folder: string): string {
  const { code, port } = error as { readonly code?: unknown; readonly port?: unknown };
  return code === 'EADDRINUSE'
    ? `port ${String(port)}, which the sandbox clusters in ${folder} are known by, is in use by another process; end that one and start again`
    : `the sandbox clusters in ${folder} cannot be served`;
}
