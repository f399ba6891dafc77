// Stock kubectl, as a stranger would use it: with a kubeconfig file and nothing else of this machine.

import { execFile } from 'node:child_process';
import { type ClusterUser, NAMESPACE, type Use } from './cluster-user.ts';
import { shownPath } from './data-folder.ts';
import { sent } from './narration.ts';

/** kubectl's own default is to wait for ever. */
const REQUEST_TIMEOUT = '--request-timeout=15s';

/** It makes several requests a call; what takes longer hangs. */
const CALL_LIMIT_MS = 60_000;

export class Kubectl implements ClusterUser {
  readonly name = 'kubectl';
  readonly #program: string;
  readonly #home: string;

  constructor(program: string, home: string) {
    this.#program = program;
    this.#home = home;
  }

  listNamespaces(kubeconfigFile: string): Promise<Use> {
    return this.#run(kubeconfigFile, ['get', 'namespaces']);
  }

  createConfigMap(kubeconfigFile: string, name: string): Promise<Use> {
    return this.#run(kubeconfigFile, ['create', 'configmap', name]);
  }

  async deleteConfigMap(kubeconfigFile: string, name: string): Promise<Use> {
    const use = await this.#run(kubeconfigFile, ['delete', 'configmap', name]);
    return use.lines.some((line) => line.includes('(NotFound)'))
      ? { ...use, outcome: 'done' }
      : use;
  }

  async #run(kubeconfigFile: string, args: readonly string[]): Promise<Use> {
    const options = {
      // Its cache goes where all else of the demo goes.
      env: { HOME: this.#home, PATH: process.env['PATH'] },
      timeout: CALL_LIMIT_MS,
    };
    const all = [
      '--kubeconfig',
      kubeconfigFile,
      '--namespace',
      NAMESPACE,
      REQUEST_TIMEOUT,
      ...args,
    ];
    const shown = ['kubectl', '--kubeconfig', shownPath(kubeconfigFile), ...args].join(' ');
    return await new Promise((resolve) => {
      execFile(this.#program, all, options, (error, stdout, stderr) => {
        // A program that cannot be run says nothing.
        const output = `${stdout}${stderr}`.trimEnd() || (error?.message ?? '');
        const lines = [sent(shown), ...(output === '' ? [] : output.split('\n'))];
        const isRefused = /\(Forbidden\)|Unauthorized|must be logged in/.test(stderr);
        const failure = isRefused ? 'refused' : 'failed';
        resolve({ outcome: error === null ? 'done' : failure, lines });
      });
    });
  }
}
