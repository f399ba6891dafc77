// The effective configuration as text for people: what is in force once environment, file and defaults are put
// together. Secrets print as `[secret]` by themselves; of a database's URL only the password and what follows it do.
import { stringify } from 'yaml';
import type { Config, DatabaseSetting, ListenAddress } from './config.ts';

/** YAML, in the words of the settings where they have one. */
export function showConfig(config: Config): string {
  const { publicListen, operatorListen, database, sealingKeys, plans, ...others } = config;
  const shown = {
    publicListen: showListener(publicListen),
    operatorListen: showListener(operatorListen),
    database: showDatabase(database),
    sealingKeys: sealingKeys.map(({ id }) => ({ id, key: '[secret]' })),
    ...others,
    plans: Object.fromEntries(plans.map(({ name, ...plan }) => [name, plan])),
  };
  // By way of JSON, which asks each secret how it is to be shown.
  return stringify(JSON.parse(JSON.stringify(shown)), { lineWidth: 0 });
}

function showListener({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function showDatabase(database: DatabaseSetting) {
  if (database.kind === 'embedded') {
    return database;
  }
  // Rebuilt from parts that are no secrets: the query may hold a password too.
  const { protocol, username, password, host, pathname } = new URL(database.url.reveal());
  const user = username === '' ? '' : `${username}${password === '' ? '' : ':[secret]'}@`;
  return { kind: database.kind, url: `${protocol}//${user}${host}${pathname}` };
}
