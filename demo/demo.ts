// `npm run demo`: the whole story once, by hand, through HTTP and a stock program only; nothing of the broker's own code
// is imported. Here is its frame: what was asked for, in which order, and how it ends.

import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { readArguments, USAGE } from './arguments.ts';
import { startBroker } from './broker-process.ts';
import { chooseClusterUser, findKubectl } from './choose-cluster-user.ts';
import {
  dataFolderOf,
  demoFolderOf,
  openDemoFiles,
  platformCredentials,
  readKubeconfig,
  shownPath,
} from './data-folder.ts';
import { DemoFailure } from './demo-failure.ts';
import { type Environment, isUnattended, wantsColours } from './environment.ts';
import { Interrupted, listenForInterruption } from './interruption.ts';
import { listenersOf, requireFree } from './listen-addresses.ts';
import { duration, Narration } from './narration.ts';
import { Osb, OWN_CLUSTER_PLAN_ID, SANDBOX_PLAN_ID, type Wish } from './osb.ts';
import type { Stage } from './stage.ts';
import { tellStory } from './story.ts';
import { Unwinding } from './unwinding.ts';
import { yourTurn } from './your-turn.ts';

const EXIT_DONE = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

async function main(env: Environment): Promise<number> {
  const given = readArguments(process.argv.slice(2), env);
  switch (given.wish) {
    case 'help':
      process.stdout.write(USAGE);
      return EXIT_DONE;
    case 'unclear':
      process.stderr.write(
        `${given.fault} Options go after \`--\`: npm run demo -- --kubeconfig FILE, or --help.\n`,
      );
      return EXIT_USAGE;
    case 'demo':
      return await runDemo(given.kubeconfigFile, env);
  }
}

async function runDemo(kubeconfigFile: string | undefined, env: Environment): Promise<number> {
  const isTerminal = process.stdout.isTTY && env['TERM'] !== 'dumb';
  const narration = new Narration({
    write: (text) => process.stdout.write(text),
    isTerminal,
    hasColours: isTerminal && wantsColours(env),
    columns: isTerminal ? process.stdout.columns : undefined,
  });
  const interruption = listenForInterruption(env);
  const unwinding = new Unwinding();
  const status = await toItsEnd({ env, kubeconfigFile, narration, unwinding, interruption });
  const isClean = await unwinding.unwind(narration);
  return status === EXIT_DONE && !isClean ? EXIT_FAILED : status;
}

interface Frame {
  readonly env: Environment;
  /** Of a cluster that is attached, instead of a sandbox. */
  readonly kubeconfigFile: string | undefined;
  readonly narration: Narration;
  readonly unwinding: Unwinding;
  readonly interruption: AbortSignal;
}

async function toItsEnd(frame: Frame): Promise<number> {
  const { narration, interruption } = frame;
  try {
    await play(frame);
    return EXIT_DONE;
  } catch (error) {
    const reason: unknown = interruption.reason;
    if (!(reason instanceof Interrupted)) {
      narration.failure(error);
      return EXIT_FAILED;
    }
    narration.plain(`\n${reason.message}`);
    return reason.exitStatus;
  }
}

async function play(frame: Frame): Promise<void> {
  const { env, kubeconfigFile, narration, interruption } = frame;
  const startedAt = performance.now();
  narration.heading('Runtime Broker: a kubeconfig that a cluster honours, and then refuses');
  if ((env['DATABASE_URL'] || env['DATABASE_URL_FILE'] || '') !== '') {
    narration.plain('DATABASE_URL is left aside: the demo, and the plan sandbox, are for the');
    narration.plain('embedded default, not for a ledger that is in use.');
  }
  const wish = wishOf(kubeconfigFile);
  await requireFree(listenersOf(env));
  const stage = await setStage(frame, wish);
  await withBroker(stage, async () => {
    await tellStory(stage);
    narration.plain(`\nThat was the whole story, in ${duration(performance.now() - startedAt)}.`);
    if (isUnattended(env)) return;
    await yourTurn(stage, platformCredentials(env, stage.dataFolder));
    await Promise.race([once(interruption, 'abort'), stage.broker.ended]);
    if (!interruption.aborted) throw new DemoFailure('The broker has ended.');
  });
}

/** Under ids of their own, so that both can be in the same data folder. */
function wishOf(kubeconfigFile: string | undefined): Wish {
  if (kubeconfigFile === undefined) {
    return { instance: 'demo', planId: SANDBOX_PLAN_ID, parameters: { name: 'demo' } };
  }
  const parameters = { name: 'demo', kubeconfig: readKubeconfig(kubeconfigFile) };
  return { instance: 'demo-own-cluster', planId: OWN_CLUSTER_PLAN_ID, parameters };
}

async function setStage(frame: Frame, wish: Wish): Promise<Stage> {
  const { env, kubeconfigFile, narration, unwinding, interruption } = frame;
  const dataFolder = dataFolderOf(env);
  const kubectl = findKubectl(env);
  const user = chooseClusterUser(kubectl, demoFolderOf(dataFolder));
  const { what: broker, undo } = await narration.step('Start the broker', () =>
    startBroker(env, interruption),
  );
  unwinding.push(undo);
  const files = openDemoFiles(dataFolder);
  broker.log.keepIn(`${files.folder}/broker.log`);
  narration.details([
    `${broker.publicUrl}, on the embedded default; data and log in ${shownPath(dataFolder)}`,
  ]);
  const credentials = platformCredentials(env, dataFolder);
  const osb = new Osb({ url: broker.publicUrl, credentials, wish, signal: interruption });
  const cluster = kubeconfigFile === undefined ? 'sandbox' : 'attached';
  const shared = { narration, unwinding, interruption, dataFolder, files };
  return { ...shared, cluster, wish, kubectl, user, broker, osb };
}

/** A connection that breaks is seen before the end of the process at its other side. */
const END_IS_SEEN_MS = 500;

/** What fails once the broker has ended by itself fails for that reason. */
async function withBroker(
  { broker, interruption }: Stage,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (interruption.aborted) throw error;
    await Promise.race([broker.ended, pause(END_IS_SEEN_MS, undefined, { ref: false })]);
    const end = broker.howEnded();
    if (end === undefined) throw error;
    throw new DemoFailure(`The broker has ended (${end}). Its last words:`, broker.log.lastWords());
  }
}

process.exitCode = await main(process.env);
