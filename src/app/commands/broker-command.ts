// Commands that do something with the broker's ledger. Each is a parser of its arguments and a work on a composed broker;
// where that broker is (in this process, or in the one that has the data folder) is left to whoever runs it.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Broker } from '../../broker/broker.ts';
import type { CommandOutcome } from '../../http/operator/commands.ts';

export interface WorkParts {
  readonly broker: Broker;
  /** Fires when the process is to stop: the work ends early, and what is claimed is given back. */
  readonly signal: AbortSignal;
  /** Of whoever gave the command, for the record. */
  readonly actor: string;
  /** Takes a line about how it goes, for a person who waits. */
  readonly tell: (line: string) => void;
}

export type Work = (parts: WorkParts) => Promise<CommandOutcome>;

/** The arguments are not those of the command; the message is a sentence for who gave them. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export interface BrokerCommand {
  readonly name: string;
  /** Its arguments, as the usage line shows them. */
  readonly takes: string;
  readonly does: string;
  /** @throws UsageError */
  parse(args: readonly string[]): Work;
}

/** As node:util does it; what it refuses is a UsageError. */
export function parsed<T extends ParseArgsConfig>(config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    const [sentence = ''] = error instanceof Error ? error.message.split('. ') : [];
    throw new UsageError(`${sentence.replace(/\.$/, '')}.`);
  }
}
