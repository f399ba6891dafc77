// Makes and drops databases on a PostgreSQL that runs, whoever started it.

import pg from 'pg';

/** URL of another database on the server that `serverUrl` names. */
function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

/** Returns the URL of the new database. Nobody may be connected to the template meanwhile (PostgreSQL's rule). */
export async function createDatabase(
  serverUrl: string,
  name: string,
  options: { readonly template?: string } = {},
): Promise<string> {
  const template = options.template ?? 'template0';
  await run(
    serverUrl,
    `create database ${quoted(name)} template ${quoted(template)} encoding 'UTF8'`,
  );
  return databaseUrl(serverUrl, name);
}

/** Ends the database's connections first; does nothing when there is no such database. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await run(serverUrl, `drop database if exists ${quoted(name)} with (force)`);
}

/** Throws when the server does not answer a query. */
export async function ask(serverUrl: string): Promise<void> {
  await run(serverUrl, 'select 1');
}

async function run(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  // A connection that breaks is reported twice: to the call, which throws, and by this event, which would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
