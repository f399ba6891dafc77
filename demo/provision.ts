// The instance of the demo: made, or found as an earlier run has left it, whatever state that was.

import { DemoFailure } from './demo-failure.ts';
import { Refused } from './osb.ts';
import { type Stage, step } from './stage.ts';
import type { Undo } from './unwinding.ts';

const TITLES = {
  sandbox: 'Provision a cluster, as an instance of the plan sandbox',
  attached: 'Attach your cluster, as an instance of the plan own_cluster',
} as const;

/** Deprovisioning gives a silent cluster two minutes. */
const DELETE_LIMIT_MS = 150_000;

/** Returns once it is ready. The undo that removes an attached cluster is pushed before the first request. */
export async function provision(stage: Stage): Promise<void> {
  const { osb, unwinding, cluster } = stage;
  const undo: Undo = {
    title: `Delete the instance "${stage.wish.instance}", and what is bound to it`,
    run: () => removeInstance(stage),
  };
  if (cluster === 'attached') unwinding.push(undo);
  await step(stage, TITLES[cluster], {
    run: async () => {
      const line = await accepted(stage, undo);
      await osb.untilSucceeded();
      return line;
    },
    tell: (line) => [line],
  });
}

async function accepted(stage: Stage, undo: Undo): Promise<string> {
  const { osb } = stage;
  const ask = async () => {
    const { status, line } = await osb.provision();
    return `${line}, ${status === 200 ? 'there since an earlier run' : 'then succeeded'}`;
  };
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (await makeRoom(stage, error)) return await ask();
    // A refused request has changed nothing.
    stage.unwinding.drop(undo);
    if (stage.cluster === 'sandbox') throw error;
    throw new DemoFailure(error.message, [...error.hints, ...KUBECONFIG_ADVICE]);
  }
}

const KUBECONFIG_ADVICE = [
  '',
  'The broker takes an https address and a token or a client certificate, all of it in the file. This makes such a',
  'file of your own: kubectl config view --raw --minify --flatten > FILE',
];

/** @returns whether what an earlier run has left under this id is out of the way now */
async function makeRoom({ osb, cluster }: Stage, { status }: Refused): Promise<boolean> {
  // 422: it is being deleted. 409: its creation failed, or it is another cluster.
  if (status !== 409 && status !== 422) return false;
  const { state } = await osb.lastOperation();
  if (status === 422) return true;
  // An instance of that name that works is not for us to delete, unless it stands for the cluster of another run.
  if (state !== 'failed' && cluster === 'sandbox') return false;
  await osb.deprovision();
  await osb.untilSucceeded();
  return true;
}

/** Also when the person has had enough: then it is all the more wanted. */
async function removeInstance(stage: Stage): Promise<void> {
  const osb = stage.osb.until(AbortSignal.timeout(DELETE_LIMIT_MS));
  try {
    const { status } = await osb.deprovision();
    if (status === 202) await osb.untilSucceeded();
  } catch (error) {
    if (!(error instanceof DemoFailure)) throw error;
    throw new DemoFailure(error.message, [
      ...error.hints,
      'Accounts of this demo may be left on the cluster; their tokens expire. To see them:',
      '  kubectl get serviceaccounts -A -l app.kubernetes.io/managed-by=runtime-broker',
    ]);
  }
}
