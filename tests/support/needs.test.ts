// That a missing part is told by its name, and only to tests that need it.

import { expect, it } from 'vitest';
import { whatIsMissing } from './needs.ts';
import type { PartsOfRun } from './provided.ts';

const MISSING = { found: false, howToGet: 'build it' } as const;

const PARTS: PartsOfRun = {
  postgres: { found: true, url: 'postgres://host/db', logFile: null, pgDump: '/pg_dump' },
  cluster: MISSING,
  kubectl: MISSING,
  postgresBinaries: MISSING,
  clusterBinaries: MISSING,
};

it.each([
  [{}, []],
  [{ postgres: true }, []],
  [{ postgres: true, cluster: true }, ['a real kube-apiserver']],
  [{ cluster: false, kubectl: true }, ['kubectl']],
  [
    { ownPostgres: true, ownCluster: true },
    ['a PostgreSQL of its own', 'a real kube-apiserver of its own'],
  ],
])('needs %o, lacks %o', (needs, missing) => {
  expect(whatIsMissing(needs, PARTS)).toEqual(missing);
});
