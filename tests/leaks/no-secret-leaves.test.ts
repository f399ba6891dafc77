// Runs after all other tests: nothing that they put out (logs, error answers, lists, database dumps) holds any of the
// tokens, passwords and keys that they made. What is collected is up to them: recordSecret and recordOutput.

import { readFileSync } from 'node:fs';
import { beforeAll, expect, inject, it } from 'vitest';
import { recordOutput } from '../support/leak-record.ts';
import { type RecordSearch, searchRecord } from '../support/leak-search.ts';
import { describeWith } from '../support/needs.ts';

/** Some of what every whole run records: without it the search would find nothing for the wrong reason. */
const SECRETS_OF_A_RUN = [
  'client key of a kubeconfig',
  'token of a binding',
  'password of the platform',
  'password of operators',
  'sealing key',
];
const OUTPUTS_OF_A_RUN = [
  'database dump',
  'broker log',
  'broker output',
  'answer 200 to GET',
  'answer 404 to GET',
];

/** Some hundred megabytes on a slow machine. */
const SEARCH_LIMIT_MS = 120_000;

describeWith({ postgres: true, cluster: true }, 'the record of the whole run', () => {
  let search: RecordSearch;
  beforeAll(async () => {
    recordServerLog();
    search = await searchRecord(inject('leakRecordFolder'));
  }, SEARCH_LIMIT_MS);

  it('holds secrets and outputs; it does only when all other tests ran before', () => {
    expect(search.secretKinds).toEqual(expect.arrayContaining(SECRETS_OF_A_RUN));
    expect(search.outputKinds).toEqual(expect.arrayContaining(OUTPUTS_OF_A_RUN));
  });

  it('holds no secret in any output', () => {
    expect(search.leaks).toEqual([]);
  });
});

/** PostgreSQL logs the statements that fail: values must not stand in them. */
function recordServerLog(): void {
  const { postgres } = inject('parts');
  if (!postgres.found || postgres.logFile === null) return;
  recordOutput('PostgreSQL server log', readFileSync(postgres.logFile, 'utf8'));
}
