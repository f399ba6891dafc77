// Sandboxes for test files: in memory and on a free port unless a test says otherwise. Their administrators' tokens
// and client keys go to the record of secrets.

import { randomInt, randomUUID } from 'node:crypto';

import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
} from '../../src/sandbox-cluster/sandbox.ts';
import { memoryStore } from '../../src/sandbox-cluster/store/memory-store.ts';
import { recordClientKey, type SharedCluster } from './cluster.ts';
import { recordSecret } from './leak-record.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

export type TestCluster = SharedCluster & {
  readonly adminToken: string;
  readonly ca: string;
  readonly uid: string;
};

export interface TestSandbox {
  readonly sandbox: Sandbox;
  openCluster(name: string): TestCluster;
  stop(): Promise<void>;
}

/** Without controllers, as the real API server of the tests has none, unless said. */
export async function startTestSandbox(change: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const faults: unknown[] = [];
  const sandbox = createSandbox({
    onFault: (error) => void faults.push(error),
    store: memoryStore(),
    clock: () => new Date(),
    draw: {
      uuid: () => randomUUID(),
      letters: (length) =>
        Array.from({ length }, () => LETTERS.charAt(randomInt(LETTERS.length))).join(''),
    },
    controllers: false,
    ...change,
  });
  await sandbox.start({ host: '127.0.0.1', port: 0 });
  return {
    sandbox,
    openCluster(name) {
      const cluster = sandbox.clusterNamed(name);
      recordSecret('token of a sandbox administrator', cluster.adminToken);
      return {
        server: cluster.url,
        ca: cluster.ca,
        authority: { certPem: cluster.ca },
        uid: cluster.uid,
        adminToken: cluster.adminToken,
        adminKubeconfig: cluster.adminKubeconfig,
        kubeconfigFor: async (identity) => recordClientKey(await cluster.kubeconfigFor(identity)),
      };
    },
    async stop() {
      await sandbox.stop();
      if (faults.length > 0) throw new AggregateError(faults, 'the sandbox met bugs of its own');
    },
  };
}
