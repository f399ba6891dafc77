// `npm run demo`: the whole story once, by hand, on real parts, through HTTP and stock kubectl only; nothing of the
// broker's own code is imported. Here is its frame: what was asked for, in which order, and how it ends.

import { once } from 'node:events';
import { readArguments, USAGE } from './arguments.ts';
import { DemoFailure } from './demo-failure.ts';
import { type Environment, isUnattended, wantsColours } from './environment.ts';
import { Interrupted, listenForInterruption } from './interruption.ts';
import { listenersOf, requireFree } from './listen-addresses.ts';
import { duration, Narration } from './narration.ts';
import { findRealParts, type Wanted } from './real-parts.ts';
import { readKubeconfig } from './servers.ts';
import { setStage, type Stage } from './stage.ts';
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
  const wanted = { env, kubeconfigFile };
  const status = await toItsEnd({ wanted, narration, unwinding, interruption });
  const isClean = await unwinding.unwind(narration);
  return status === EXIT_DONE && !isClean ? EXIT_FAILED : status;
}

interface Frame {
  readonly wanted: Wanted;
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

async function play({ wanted, narration, unwinding, interruption }: Frame): Promise<void> {
  const { env, kubeconfigFile } = wanted;
  narration.heading(
    'Runtime Broker: from a cluster to a kubeconfig that it honours, and then refuses',
  );
  narration.heading('What is here');
  const parts = await findRealParts(wanted, narration);
  const listeners = listenersOf(env);
  await requireFree(listeners);
  if (kubeconfigFile !== undefined) readKubeconfig(kubeconfigFile);
  const startedAt = performance.now();
  const stage = await setStage({ parts, listeners, env, narration, unwinding, interruption });
  await withBroker(stage, async () => {
    await tellStory(stage);
    narration.plain(`\nThat was the whole story, in ${duration(performance.now() - startedAt)}.`);
    if (isUnattended(env)) return;
    await yourTurn(stage);
    await Promise.race([once(interruption, 'abort'), stage.broker.ended]);
    if (!interruption.aborted) throw new DemoFailure('The broker has ended.');
  });
}

/** What fails once the broker has ended by itself fails for that reason. */
async function withBroker(
  { broker, interruption }: Stage,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!broker.hasEnded() || interruption.aborted) throw error;
    throw new DemoFailure('The broker has ended by itself. Its last words:', [broker.logTail()]);
  }
}

process.exitCode = await main(process.env);
