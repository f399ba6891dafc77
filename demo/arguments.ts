// The command line of the demo: what it takes, and what it says about itself.

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Environment } from './environment.ts';

export const USAGE = `Runtime Broker, the whole story once: a cluster is provisioned, a kubeconfig issued, used and revoked; then the
cluster refuses it. The broker is a process of its own, on the embedded default.

Usage
  npm run demo                             on a sandbox cluster that the broker makes; needs nothing
  npm run demo -- --kubeconfig FILE        on the cluster of the file's current context
  npm run demo -- --help

The file must hold what the plan own_cluster accepts: an https address and a token or a client certificate, all of it
in the file. \`kubectl config view --raw --minify --flatten\` prints such a file from yours. The demo removes from the
cluster what it made there, except the namespace kyma-system where that was missing: the broker leaves it in place.
The kubeconfig is used by kubectl, or by @kubernetes/client-node on a machine without it.

Environment, as of \`npm start\`; DATABASE_URL alone is left aside, since a demo has no place in a ledger that is in use
  RUNTIME_BROKER_DATA_DIR         data folder (.runtime-broker); files of the demo are in its folder demo
  RUNTIME_BROKER_LISTEN           where the broker listens for platforms (127.0.0.1:8080)
  RUNTIME_BROKER_OPERATOR_LISTEN  where it listens for operators (127.0.0.1:8081); port 0 picks a free one
  CI                              set: it ends by itself after the story instead of staying up for you
  NO_COLOR                        set: no colours
`;

export type Arguments =
  | { readonly wish: 'help' }
  | { readonly wish: 'demo'; readonly kubeconfigFile: string | undefined }
  | { readonly wish: 'unclear'; readonly fault: string };

export function readArguments(args: readonly string[], env: Environment): Arguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { help: { type: 'boolean', short: 'h' }, kubeconfig: { type: 'string' } },
    });
    if (values.help === true) return { wish: 'help' };
    const file = values.kubeconfig;
    // npm runs scripts in the folder of package.json; INIT_CWD is where the person is.
    const from = env['INIT_CWD'] ?? process.cwd();
    return { wish: 'demo', kubeconfigFile: file === undefined ? undefined : resolve(from, file) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The rest of Node's sentence advises on command lines that are not ours.
    const [fault = message] = message.split('. ');
    return { wish: 'unclear', fault: fault.replace(/\.?$/, '.') };
  }
}
