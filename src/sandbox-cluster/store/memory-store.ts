// Keeps a sandbox for as long as the process lives, or for as long as a test hands the same store to the next one.

import type { JsonObject } from '../api/kube-object.ts';
import type { Journal, SandboxIdentity, SandboxStore } from './sandbox-store.ts';

export function memoryStore(): SandboxStore {
  const journals = new Map<string, JsonObject[]>();
  let identity: SandboxIdentity | undefined;
  return {
    readIdentity: () => identity,
    writeIdentity(written) {
      identity = written;
    },
    clusterNames: () => [...journals.keys()],
    openJournal(name): Journal {
      const changes = journals.get(name) ?? [];
      journals.set(name, changes);
      return {
        read: () => [...changes],
        append: (change) => void changes.push(change),
        replace: (others) => void changes.splice(0, changes.length, ...others),
        close: () => undefined,
      };
    },
    removeJournal: (name) => void journals.delete(name),
  };
}
