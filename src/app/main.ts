// The server binary: picks the command. `serve` unless another is named.
import { checkConfigCommand } from './commands/check-config.ts';
import { migrateCommand } from './commands/migrate.ts';
import { serveCommand } from './commands/serve.ts';
import { EXIT_DONE, EXIT_USAGE } from './exit-status.ts';

interface Command {
  readonly does: string;
  readonly run: () => Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: { does: 'runs the broker until SIGTERM or SIGINT (the default)', run: serveCommand },
  migrate: { does: 'brings the schema of the database up to date and ends', run: migrateCommand },
  'check-config': {
    does: 'prints the configuration that a start would run with, without secrets',
    run: checkConfigCommand,
  },
};

const USAGE = `Usage: runtime-broker [${Object.keys(COMMANDS).join(' | ')}]`;

const LONGEST_NAME = Math.max(...Object.keys(COMMANDS).map((name) => name.length));

const HELP = [
  USAGE,
  '',
  ...Object.entries(COMMANDS).map(([name, { does }]) => `  ${name.padEnd(LONGEST_NAME)} ${does}`),
  '',
  'Settings come from the environment: see docs/configuration.md.',
].join('\n');

const HELP_WORDS: readonly string[] = ['--help', '-h', 'help'];

async function run([name = 'serve', ...rest]: readonly string[]): Promise<number> {
  if ([name, ...rest].some((word) => HELP_WORDS.includes(word))) {
    process.stdout.write(`${HELP}\n`);
    return EXIT_DONE;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined || rest.length > 0) {
    const wrong =
      command === undefined ? `There is no command "${name}".` : `"${name}" takes no arguments.`;
    process.stderr.write(`${wrong}\n${USAGE}\n`);
    return EXIT_USAGE;
  }
  return await command.run();
}

process.exitCode = await run(process.argv.slice(2));
