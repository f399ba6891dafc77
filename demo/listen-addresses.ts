// Where the broker of the demo will listen, the same addresses as with `npm start`, and whether they are free. What an
// address may look like is the broker's to say.

import { createServer } from 'node:net';
import { DemoFailure } from './demo-failure.ts';
import type { Environment } from './environment.ts';

/** A broker that runs already has the data folder too. */
const BESIDE =
  '  RUNTIME_BROKER_LISTEN=127.0.0.1:0 RUNTIME_BROKER_OPERATOR_LISTEN=127.0.0.1:0 RUNTIME_BROKER_DATA_DIR=$(mktemp -d) npm run demo';

export interface Listener {
  /** The variable that moves it. */
  readonly variable: string;
  readonly address: string;
}

export function listenersOf(env: Environment): readonly Listener[] {
  return [
    { variable: 'RUNTIME_BROKER_LISTEN', standard: '127.0.0.1:8080' },
    { variable: 'RUNTIME_BROKER_OPERATOR_LISTEN', standard: '127.0.0.1:8081' },
  ].map(({ variable, standard }) => ({ variable, address: env[variable] || standard }));
}

/** Asked before anything is started, so that a taken port costs no wait. */
export async function requireFree(listeners: readonly Listener[]): Promise<void> {
  for (const { variable, address } of listeners) {
    const fault = await bindFault(address);
    if (fault === 'EADDRINUSE') {
      throw new DemoFailure(
        `${address} is taken: something listens there already (\`npm start\`?).`,
        ['Stop it, or run the demo beside it, on free ports and in a folder of its own:', BESIDE],
      );
    }
    if (fault !== undefined) {
      throw new DemoFailure(`${address} cannot be listened on (${fault}): see ${variable}.`);
    }
  }
}

/** @returns what the system says against it; undefined also for a text that only the broker can judge */
function bindFault(address: string): Promise<string | undefined> {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(address) ?? [];
  if (host === '' || Number(port) > 65_535) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    probe.listen({ host: host.replaceAll(/[[\]]/g, ''), port: Number(port) }, () => {
      probe.close(() => resolve(undefined));
    });
  });
}
