// The kubectl of the run, for test files.

import { inject } from 'vitest';
import { type KubectlResult, runKubectl } from './real-parts/kubectl.ts';

/** `kubeconfig` is its text, or the path of a file. A refusal is a result, not an error. */
export async function kubectl(
  kubeconfig: string,
  args: readonly string[],
  options: { readonly input?: string } = {},
): Promise<KubectlResult> {
  const program = inject('parts').kubectl;
  if (!program.found) throw new Error(`no kubectl in this run: ${program.howToGet}`);
  return runKubectl({ program: program.path, kubeconfig, args, ...options });
}
