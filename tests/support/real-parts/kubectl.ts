// Runs a stock kubectl as a stranger would: with a kubeconfig and nothing else of this machine.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KubectlCall {
  /** Path of the program. */
  readonly program: string;
  /** The text of a kubeconfig, or the path of a file. */
  readonly kubeconfig: string;
  readonly args: readonly string[];
  /** Text for its standard input, for `apply -f -`. */
  readonly input?: string;
}

export interface KubectlResult {
  /** null when it was killed. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A single question to a local API server; kubectl's own default is to wait for ever. */
const REQUEST_TIMEOUT_SECONDS = 15;

/** kubectl makes several requests a call; what takes longer hangs. */
const CALL_LIMIT_MS = 60_000;

/** Does not fail on a refusal: that is an answer, with its status and stderr. Throws when kubectl cannot be run. */
export async function runKubectl(call: KubectlCall): Promise<KubectlResult> {
  const home = mkdtempSync(join(tmpdir(), 'runtime-broker-kubectl-'));
  try {
    return await spawned(call, home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function spawned(call: KubectlCall, home: string): Promise<KubectlResult> {
  const args = [
    `--kubeconfig=${kubeconfigFile(call.kubeconfig, home)}`,
    `--request-timeout=${REQUEST_TIMEOUT_SECONDS}s`,
    ...call.args,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(call.program, args, {
      // No HOME, proxy or KUBE… of the person who runs the tests.
      env: { HOME: home, PATH: process.env['PATH'] },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: CALL_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, ...output }));
    // A kubectl that ends without reading its input breaks the pipe; its status tells why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(call.input ?? '');
  });
}

function kubeconfigFile(kubeconfig: string, home: string): string {
  if (!kubeconfig.includes('\n')) return kubeconfig;
  const file = join(home, 'kubeconfig');
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  return file;
}
