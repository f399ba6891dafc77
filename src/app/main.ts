// The server binary: picks the command. `serve` unless another is named.
import { migrateCommand } from './commands/migrate.ts';
import { serveCommand } from './commands/serve.ts';

/** 0 done, 1 something failed, 2 usage or configuration (contract 7). */
const EXIT_USAGE = 2;

const COMMANDS: Readonly<Record<string, () => Promise<number>>> = {
  serve: serveCommand,
  migrate: migrateCommand,
};

const [name = 'serve', ...rest] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;

if (command === undefined || rest.length > 0) {
  const wrong =
    command === undefined ? `There is no command "${name}".` : `"${name}" takes no arguments.`;
  process.stderr.write(`${wrong}\nUsage: runtime-broker [${Object.keys(COMMANDS).join(' | ')}]\n`);
  process.exitCode = EXIT_USAGE;
} else {
  process.exitCode = await command();
}
