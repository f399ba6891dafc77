// `migrate`: brings the schema up to date and ends. `serve` does the same at its start; this is for those who want it
// done before, under another database user. Where a running broker has the data folder, it has migrated it.
import { createLogger } from '../../observability/logger.ts';
import { migrate } from '../../storage/migrate.ts';
import { askHolder } from '../ask-holder.ts';
import { MIGRATE } from '../broker-commands.ts';
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts';
import { openDatabase } from '../open-database.ts';
import { prepareOrAsk } from '../prepare.ts';
import { write } from './run-broker-command.ts';

export async function migrateCommand(): Promise<number> {
  const prepared = await prepareOrAsk();
  if (typeof prepared === 'number') {
    return prepared;
  }
  if ('commandSecret' in prepared) {
    return write(await askHolder(prepared, { name: MIGRATE, args: [], actor: 'command' }));
  }
  const { config, warnings, dataFolder } = prepared;
  const log = createLogger({ level: config.logLevel, format: config.logFormat ?? 'pretty' });
  for (const warning of warnings) {
    process.stderr.write(`${warning}\n`);
  }
  const { db } = openDatabase(config.database, log);
  try {
    const applied = await migrate(db);
    const done = applied.length === 0 ? 'The schema is current.' : `Applied: ${applied.join(', ')}`;
    process.stdout.write(`${done}\n`);
    return EXIT_DONE;
  } catch (error) {
    process.stderr.write(`The schema could not be migrated: ${messageOf(error)}\n`);
    return EXIT_FAILED;
  } finally {
    await db.destroy();
    dataFolder?.lock.release();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
