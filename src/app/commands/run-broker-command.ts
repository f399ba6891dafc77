// Runs a command that works on a broker: on PostgreSQL, and on a data folder that nobody has, in this process; else in
// the process that has the folder.
import { userInfo } from 'node:os';
import { UpstreamError } from '../../domain/errors.ts';
import type { CommandOutcome } from '../../http/operator/commands.ts';
import { askHolder } from '../ask-holder.ts';
import { EXIT_FAILED, EXIT_USAGE } from '../exit-status.ts';
import { type Prepared, prepareOrAsk } from '../prepare.ts';
import { NotMigratedError, withoutListeners } from '../without-listeners.ts';
import { type BrokerCommand, UsageError, type Work } from './broker-command.ts';

/** @returns the exit status, after everything was written */
export async function runBrokerCommand(
  command: BrokerCommand,
  args: readonly string[],
): Promise<number> {
  const work = parsedOrTold(command, args);
  if (work === undefined) {
    return EXIT_USAGE;
  }
  const prepared = await prepareOrAsk();
  if (typeof prepared === 'number') {
    return prepared;
  }
  const actor = nameOfUser();
  const outcome =
    'commandSecret' in prepared
      ? await askHolder(prepared, { name: command.name, args, actor })
      : await workHere(prepared, work, actor);
  return write(outcome);
}

function parsedOrTold(command: BrokerCommand, args: readonly string[]): Work | undefined {
  try {
    return command.parse(args);
  } catch (error) {
    if (error instanceof UsageError) {
      const usage = `Usage: runtime-broker ${command.name} ${command.takes}`.trimEnd();
      process.stderr.write(`${error.message}\n${usage}\n`);
      return undefined;
    }
    throw error;
  }
}

/** What the record has of whoever uses this machine; who that is, is known there. */
function nameOfUser(): string {
  try {
    return `command: ${userInfo().username}`;
  } catch {
    // A container may run under a number that has no name.
    return 'command';
  }
}

async function workHere(prepared: Prepared, work: Work, actor: string): Promise<CommandOutcome> {
  const { config, warnings, dataFolder } = prepared;
  for (const warning of warnings) {
    process.stderr.write(`${warning}\n`);
  }
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGTERM', stop).once('SIGINT', stop);
  try {
    const { signal } = stopping;
    return await withoutListeners(config, (broker) => work({ broker, signal, actor, tell }));
  } catch (error) {
    if (error instanceof UpstreamError || error instanceof NotMigratedError) {
      return { exitStatus: EXIT_FAILED, output: [], complaints: [error.message] };
    }
    throw error;
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    dataFolder?.lock.release();
  }
}

/** For a person who waits; a script reads the last line of standard output. */
function tell(line: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`${line}\n`);
  }
}

export function write({ exitStatus, output, complaints }: CommandOutcome): number {
  for (const line of complaints) {
    process.stderr.write(`${line}\n`);
  }
  for (const line of output) {
    process.stdout.write(`${line}\n`);
  }
  return exitStatus;
}
