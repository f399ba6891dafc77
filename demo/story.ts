// The story itself: bind, use, fetch again, revoke, be refused. Each function is one step of it.

import { randomBytes } from 'node:crypto';
import type { Use } from './cluster-user.ts';
import { shownPath } from './data-folder.ts';
import { DemoFailure } from './demo-failure.ts';
import type { BindingBody } from './osb.ts';
import { provision } from './provision.ts';
import { type Stage, step } from './stage.ts';

const BINDING = 'ci-job';

/** The file of the kubeconfig, of the story's and then of the person's. */
export const KUBECONFIG = 'kubeconfig';

/** The shortest lifetime that a Kubernetes API server grants. */
const LIFETIME_SECONDS = 600;

/** A cluster of the person's own may have hundreds of namespaces. */
const MAX_LINES = 7;

export async function tellStory(stage: Stage): Promise<void> {
  await provision(stage);
  const { file, body } = await bind(stage);
  await listNamespaces(stage, file);
  await makeConfigMap(stage, file);
  await fetchAgain(stage, body);
  await unbind(stage);
  await beRefused(stage, file);
}

interface Bound {
  readonly file: string;
  readonly body: BindingBody;
  readonly line: string;
}

async function bind(stage: Stage): Promise<Bound> {
  const { osb, files } = stage;
  return await step(stage, `Bind: a CI job asks for a kubeconfig for ${LIFETIME_SECONDS} seconds`, {
    run: async () => {
      const { body, line } = await osb.bind(BINDING, LIFETIME_SECONDS);
      const file = files.write(KUBECONFIG, body.credentials.kubeconfig);
      return { file, body, line };
    },
    tell: ({ body, line, file }) => [
      line,
      `valid until ${timeOfDay(body.metadata.expires_at)}, written to ${shownPath(file)} (mode 600)`,
    ],
  });
}

async function listNamespaces(stage: Stage, file: string): Promise<void> {
  const { user } = stage;
  await step(stage, `Use it: ${user.name} lists the namespaces`, {
    run: async () => must(await user.listNamespaces(file)),
    tell: (lines) => [...(stage.kubectl === undefined ? [WITHOUT_KUBECTL] : []), ...firstOf(lines)],
  });
}

const WITHOUT_KUBECTL =
  'no kubectl on this machine, so the client library for JavaScript reads the file';

async function makeConfigMap(stage: Stage, file: string): Promise<void> {
  const { user, unwinding } = stage;
  const name = `demo-${randomBytes(3).toString('hex')}`;
  const undo = {
    title: `Remove the config map ${name}`,
    run: async () => void must(await user.deleteConfigMap(file, name)),
  };
  unwinding.push(undo);
  await step(stage, 'Use it: make a config map, and remove it again', {
    run: async () => [
      ...must(await user.createConfigMap(file, name)),
      ...must(await user.deleteConfigMap(file, name)),
    ],
    tell: (lines) => lines,
  });
  unwinding.drop(undo);
}

async function fetchAgain(stage: Stage, issued: BindingBody): Promise<void> {
  await step(stage, 'Fetch it again: a job that crashed needs to remember nothing', {
    run: async () => {
      const { body, line } = await stage.osb.getBinding(BINDING);
      if (body.credentials.kubeconfig !== issued.credentials.kubeconfig) {
        throw new DemoFailure('The broker handed out another kubeconfig than before.');
      }
      return line;
    },
    tell: (line) => [`${line}, the same kubeconfig to the byte`],
  });
}

async function unbind(stage: Stage): Promise<void> {
  await step(stage, 'Revoke it', {
    run: () => stage.osb.unbind(BINDING),
    tell: ({ line }) => [`${line}: account gone, token refused`],
  });
}

async function beRefused(stage: Stage, file: string): Promise<void> {
  const { user } = stage;
  await step(stage, 'Use it once more: it is refused', {
    run: async () => {
      const use = await user.listNamespaces(file);
      if (use.outcome !== 'refused') {
        throw new DemoFailure('The cluster should have refused, and did not:', use.lines);
      }
      return use;
    },
    tell: ({ lines }) => firstOf(lines),
  });
}

function must({ outcome, lines }: Use): readonly string[] {
  if (outcome !== 'done') throw new DemoFailure('The cluster did not do what it was asked:', lines);
  return lines;
}

function firstOf(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more`];
}

/** By the clock on the person's wall: `14:05:09`. */
export function timeOfDay(instant: string): string {
  return new Date(instant).toTimeString().slice(0, 'hh:mm:ss'.length);
}
