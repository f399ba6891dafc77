// The commands that work on a broker, and how the process that alone has the database runs one for another process.
import type { Broker } from '../broker/broker.ts';
import type { CommandOutcome, GivenCommand } from '../http/operator/commands.ts';
import { schemaIsCurrent } from '../storage/migrate.ts';
import { type BrokerCommand, UsageError, type Work } from './commands/broker-command.ts';
import { CLEANUP } from './commands/cleanup.ts';
import { CONFIRM_RESTORE } from './commands/confirm-restore.ts';
import { ROTATE_KEYS } from './commands/rotate-keys.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from './exit-status.ts';

export const BROKER_COMMANDS: readonly BrokerCommand[] = [CLEANUP, ROTATE_KEYS, CONFIRM_RESTORE];

/** Of another process of the same machine: the arguments were looked at there, by a version that may be another one. */
export async function runGivenCommand(
  broker: Broker,
  { name, args, actor }: GivenCommand,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  try {
    const work = workOf(name, args);
    broker.log.info({ command: name, args, actor }, 'a command is run for another process');
    return await work({ broker, signal, actor, tell: () => undefined });
  } catch (error) {
    if (error instanceof UsageError) {
      return { exitStatus: EXIT_USAGE, output: [], complaints: [error.message] };
    }
    throw error;
  }
}

function workOf(name: string, args: readonly string[]): Work {
  if (name === MIGRATE) {
    return tellSchema;
  }
  const command = BROKER_COMMANDS.find((each) => each.name === name);
  if (command === undefined) {
    throw new UsageError(`The process that has the data folder knows no command "${name}".`);
  }
  return command.parse(args);
}

/** Done at the start of whoever has the folder; so nothing is left to do. */
export const MIGRATE = 'migrate';

const tellSchema: Work = async ({ broker }) =>
  (await schemaIsCurrent(broker.db))
    ? {
        exitStatus: EXIT_DONE,
        output: ['The schema is current: the broker that has the data folder has migrated it.'],
        complaints: [],
      }
    : { exitStatus: EXIT_FAILED, output: [], complaints: ['The schema is not current.'] };
