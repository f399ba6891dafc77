// Stock kubectl, as a stranger would use it: with a kubeconfig file and nothing else of this machine.

import { execFile } from 'node:child_process';
import { DemoFailure } from './demo-failure.ts';
import { sent } from './narration.ts';
import type { OwnFolder } from './own-folder.ts';

export interface KubectlRun {
  readonly hasSucceeded: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** What was sent, then what came back. */
  readonly lines: readonly string[];
}

/** kubectl's own default is to wait for ever. */
const REQUEST_TIMEOUT = '--request-timeout=15s';

/** It makes several requests a call; what takes longer hangs. */
const CALL_LIMIT_MS = 60_000;

export class Kubectl {
  readonly #program: string;
  readonly #folder: OwnFolder;

  constructor(program: string, folder: OwnFolder) {
    this.#program = program;
    this.#folder = folder;
  }

  /** A refusal of the cluster is a result. */
  async run(kubeconfigFile: string, args: readonly string[]): Promise<KubectlRun> {
    const options = {
      // Its cache goes where all else of the demo goes.
      env: { HOME: this.#folder.path, PATH: process.env['PATH'] },
      timeout: CALL_LIMIT_MS,
    };
    const all = ['--kubeconfig', kubeconfigFile, REQUEST_TIMEOUT, ...args];
    const shown = ['kubectl', '--kubeconfig', this.#folder.shown(kubeconfigFile), ...args].join(
      ' ',
    );
    return await new Promise((resolve) => {
      execFile(this.#program, all, options, (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`.trimEnd();
        const lines = [sent(shown), ...(output === '' ? [] : output.split('\n'))];
        resolve({ hasSucceeded: error === null, stdout, stderr, lines });
      });
    });
  }

  /** Here it is a failure. */
  async must(kubeconfigFile: string, args: readonly string[]): Promise<KubectlRun> {
    const run = await this.run(kubeconfigFile, args);
    if (!run.hasSucceeded) throw new DemoFailure('kubectl failed:', run.lines);
    return run;
  }
}
