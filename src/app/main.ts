// The server binary: picks the command. `serve` unless another is named.
import { BROKER_COMMANDS } from './broker-commands.ts';
import { checkConfigCommand } from './commands/check-config.ts';
import { migrateCommand } from './commands/migrate.ts';
import { runBrokerCommand } from './commands/run-broker-command.ts';
import { serveCommand } from './commands/serve.ts';
import { EXIT_DONE, EXIT_USAGE } from './exit-status.ts';

interface Command {
  readonly does: string;
  /** As the help shows them; empty where there are none. */
  readonly takes: string;
  readonly run: (args: readonly string[]) => Promise<number>;
}

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  alone('serve', 'runs the broker until SIGTERM or SIGINT (the default)', serveCommand),
  alone('migrate', 'brings the schema of the database up to date and ends', migrateCommand),
  alone(
    'check-config',
    'prints the configuration that a start would run with, without secrets',
    checkConfigCommand,
  ),
  ...BROKER_COMMANDS.map((command): [string, Command] => [
    command.name,
    { ...command, run: (args) => runBrokerCommand(command, args) },
  ]),
]);

/** A command that takes no arguments. */
function alone(name: string, does: string, work: () => Promise<number>): [string, Command] {
  const runAlone = (args: readonly string[]): Promise<number> =>
    args.length === 0 ? work() : Promise.resolve(wrongUsage(`"${name}" takes no arguments.`));
  return [name, { does, takes: '', run: runAlone }];
}

function wrongUsage(fault: string): number {
  process.stderr.write(`${fault}\n${usage()}\n`);
  return EXIT_USAGE;
}

function usage(): string {
  return `Usage: runtime-broker [${[...COMMANDS.keys()].join(' | ')}]`;
}

function help(): string {
  const lines = [...COMMANDS].flatMap(([name, { takes, does }]) => [
    `  ${name} ${takes}`.trimEnd(),
    `      ${does}`,
  ]);
  return [
    usage(),
    '',
    ...lines,
    '',
    'Settings come from the environment: see docs/configuration.md.',
  ].join('\n');
}

const HELP_OPTIONS: readonly string[] = ['--help', '-h'];

async function run([name = 'serve', ...rest]: readonly string[]): Promise<number> {
  if (name === 'help' || [name, ...rest].some((word) => HELP_OPTIONS.includes(word))) {
    process.stdout.write(`${help()}\n`);
    return EXIT_DONE;
  }
  const command = COMMANDS.get(name);
  return command === undefined
    ? wrongUsage(`There is no command "${name}".`)
    : await command.run(rest);
}

process.exitCode = await run(process.argv.slice(2));
