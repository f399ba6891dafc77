// A sandbox as a process of its own, for a test that kills it: `node sandbox-process.ts FOLDER`. Prints the kubeconfig
// of its cluster `kept` as one line of JSON once it serves.

import { randomInt, randomUUID } from 'node:crypto';

import { createSandbox } from '../../../src/sandbox-cluster/sandbox.ts';
import { fileStore } from '../../../src/sandbox-cluster/store/file-store.ts';

const [, , folder = ''] = process.argv;

const sandbox = createSandbox({
  store: fileStore(folder),
  clock: () => new Date(),
  draw: {
    uuid: () => randomUUID(),
    letters: (length) => Array.from({ length }, () => randomInt(36).toString(36)).join(''),
  },
});
await sandbox.start({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify(sandbox.clusterNamed('kept').adminKubeconfig)}\n`);
