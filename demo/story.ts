// The story itself: attach, bind, use, fetch again, revoke, be refused, delete, look for leftovers. Each function is
// one step of it.

import { randomBytes } from 'node:crypto';
import { DemoFailure } from './demo-failure.ts';
import { type Answer, type BindingBody, Refused } from './osb.ts';
import type { Stage } from './stage.ts';
import type { Undo } from './unwinding.ts';

const INSTANCE = 'story';
const BINDING = 'ci-job';

/** The shortest lifetime that a Kubernetes API server grants. */
const LIFETIME_SECONDS = 600;

/** Deprovisioning gives a silent cluster two minutes. */
const DELETE_LIMIT_MS = 150_000;

/** All kinds of objects that the broker makes for a binding. */
const KINDS = 'serviceaccounts,clusterroles,clusterrolebindings';

export async function tellStory(stage: Stage): Promise<void> {
  const { narration } = stage;
  narration.heading('The story');
  const instance = await attach(stage, {
    instance: INSTANCE,
    title: 'Attach the cluster to the broker, as a service instance',
  });
  const { file, body } = await bind(stage);
  await showMade(stage);
  await listNamespaces(stage, file);
  await makeConfigMap(stage, file);
  await fetchAgain(stage, body);
  await unbind(stage);
  await beRefused(stage, file);
  await deleteInstance(stage, instance);
  await showNothingLeft(stage);
}

export interface Attaching {
  readonly instance: string;
  readonly title: string;
}

/** @returns what deletes the instance again; it is in the unwinding already, before the first request */
export async function attach(stage: Stage, { instance, title }: Attaching): Promise<Undo> {
  const { narration, osb, unwinding, interruption } = stage;
  interruption.throwIfAborted();
  const undo: Undo = {
    title: `Delete the instance "${instance}", and what is bound to it`,
    run: () => removeInstance(stage, instance),
  };
  unwinding.push(undo);
  const lines = await narration.step(title, async () => {
    const { line } = await accepted(stage, instance, undo);
    return [line, await osb.untilSucceeded(instance)];
  });
  narration.details(lines);
  return undo;
}

async function accepted(stage: Stage, instance: string, undo: Undo): Promise<Answer<unknown>> {
  const { osb, cluster, unwinding, parts } = stage;
  try {
    return await osb.attach(instance, cluster.adminKubeconfig);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // A refused request has changed nothing.
    unwinding.drop(undo);
    if (parts.cluster.kind === 'programs') throw error;
    throw new DemoFailure(error.message, [...error.hints, ...KUBECONFIG_ADVICE]);
  }
}

const KUBECONFIG_ADVICE = [
  '',
  'The broker takes an https address and a token or a client certificate, all of it in the file. This makes such a',
  'file of your own: kubectl config view --raw --minify --flatten > FILE',
];

/** Also when the person has had enough: then it is all the more wanted. */
async function removeInstance(stage: Stage, instance: string): Promise<void> {
  const osb = stage.osb.until(AbortSignal.timeout(DELETE_LIMIT_MS));
  try {
    const { status } = await osb.deprovision(instance);
    if (status === 202) await osb.untilSucceeded(instance);
  } catch (error) {
    if (!(error instanceof DemoFailure) || stage.parts.cluster.kind === 'programs') throw error;
    throw new DemoFailure(error.message, [
      ...error.hints,
      'Objects of this demo may be left on the cluster. To see them:',
      `  kubectl get ${KINDS} -A -l ${labelOf(stage)}`,
    ]);
  }
}

async function bind(stage: Stage): Promise<{ readonly file: string; readonly body: BindingBody }> {
  const { narration, osb, folder } = stage;
  const { body, line } = await narration.step(
    `Bind: a CI job asks for a kubeconfig for ${LIFETIME_SECONDS} seconds`,
    () => osb.bind(INSTANCE, BINDING, LIFETIME_SECONDS),
  );
  const { credentials, metadata } = body;
  const file = folder.write('kubeconfig', credentials.kubeconfig);
  narration.details([
    line,
    `for ${credentials.server}, until ${metadata.expires_at}; written to ${folder.shown(file)}`,
  ]);
  return { file, body };
}

async function showMade(stage: Stage): Promise<void> {
  const { narration } = stage;
  const { lines } = await narration.step(
    'Look at the cluster: the broker made an account for it alone',
    () => listOurs(stage),
  );
  narration.details(lines);
}

async function listNamespaces({ narration, kubectl }: Stage, file: string): Promise<void> {
  const { lines } = await narration.step('Use it: kubectl lists the namespaces', () =>
    kubectl.must(file, ['get', 'namespaces']),
  );
  narration.details(lines);
}

async function makeConfigMap(stage: Stage, file: string): Promise<void> {
  const { narration, kubectl, cluster, unwinding } = stage;
  const name = `runtime-broker-demo-${randomBytes(3).toString('hex')}`;
  const undo: Undo = {
    title: `Remove the config map ${name}`,
    run: async () => {
      const remove = ['delete', 'configmap', name, '--ignore-not-found'];
      await kubectl.must(cluster.adminKubeconfigFile, remove);
    },
  };
  unwinding.push(undo);
  const lines = await narration.step(
    'Use it: kubectl makes a config map, and removes it again',
    async () => {
      const made = await kubectl.must(file, [
        'create',
        'configmap',
        name,
        '--from-literal=by=a-program',
      ]);
      const removed = await kubectl.must(file, ['delete', 'configmap', name]);
      return [...made.lines, ...removed.lines];
    },
  );
  unwinding.drop(undo);
  narration.details(lines);
}

async function fetchAgain({ narration, osb }: Stage, issued: BindingBody): Promise<void> {
  const { body, line } = await narration.step(
    'Fetch the binding again: it is the same kubeconfig',
    async () => {
      const answer = await osb.getBinding(INSTANCE, BINDING);
      if (answer.body.credentials.kubeconfig !== issued.credentials.kubeconfig) {
        throw new DemoFailure('The broker handed out another kubeconfig than before.');
      }
      return answer;
    },
  );
  narration.details([line, `the same to the byte, ${body.credentials.kubeconfig.length} of them`]);
}

async function unbind({ narration, osb }: Stage): Promise<void> {
  const { line } = await narration.step(
    'Unbind: the broker revokes it, and asks the cluster with it',
    () => osb.unbind(INSTANCE, BINDING),
  );
  narration.details([line]);
}

async function beRefused({ narration, kubectl }: Stage, file: string): Promise<void> {
  const { lines } = await narration.step('Use it once more: kubectl is refused', async () => {
    const run = await kubectl.run(file, ['get', 'namespaces']);
    if (run.hasSucceeded || !/Forbidden|Unauthorized|must be logged in/.test(run.stderr)) {
      throw new DemoFailure('The cluster should have refused, and did not:', run.lines);
    }
    return run;
  });
  narration.details(lines);
}

async function deleteInstance(stage: Stage, undo: Undo): Promise<void> {
  const { narration, osb, unwinding } = stage;
  const lines = await narration.step('Delete the instance', async () => {
    const { line } = await osb.deprovision(INSTANCE);
    return [line, await osb.untilSucceeded(INSTANCE)];
  });
  unwinding.drop(undo);
  narration.details(lines);
}

async function showNothingLeft(stage: Stage): Promise<void> {
  const { narration } = stage;
  const { lines } = await narration.step(
    'Look at the cluster: nothing of the broker is left',
    async () => {
      const run = await listOurs(stage);
      if (run.stdout.trim() !== '') {
        throw new DemoFailure('Something of the broker is left on the cluster:', run.lines);
      }
      return run;
    },
  );
  narration.details([...lines, '(no object)']);
  if (stage.parts.cluster.kind === 'attached') {
    narration.details([
      'The namespace kyma-system stays: the broker makes it where it is missing, and leaves it there.',
    ]);
  }
}

/** With admin rights, by the label that every object of this broker carries. */
function listOurs(stage: Stage) {
  const args = ['get', KINDS, '-A', '-o', 'name', '-l', labelOf(stage)];
  return stage.kubectl.must(stage.cluster.adminKubeconfigFile, args);
}

function labelOf({ broker }: Stage): string {
  return `runtime-broker/installation=${broker.installation}`;
}
