// What a run says about its real parts, and when it refuses to begin.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeParts, refusalOf } from './describe-parts.ts';
import type { FoundParts } from './find.ts';

const MISSING = { found: false, howToGet: 'build it' } as const;

const NOTHING: FoundParts = {
  etcd: MISSING,
  kubeApiserver: MISSING,
  kubectl: MISSING,
  postgresBinaries: MISSING,
  postgresServer: MISSING,
  pgDump: MISSING,
};

const there = { found: true, path: '/there' } as const;

const EVERYTHING: FoundParts = {
  ...NOTHING,
  etcd: there,
  kubeApiserver: there,
  kubectl: there,
  postgresBinaries: there,
  pgDump: there,
};

describe('a run that lacks parts', () => {
  it.each([
    [{}],
    [{ CI: '', REQUIRE_REAL: '' }],
    [{ CI: 'false', REQUIRE_REAL: '0' }],
    [{ CI: '0', REQUIRE_REAL: 'False' }],
  ])('begins with %o', (env) => {
    expect(refusalOf(NOTHING, env)).toBeNull();
  });

  it.each([['CI'], ['REQUIRE_REAL']])('is refused when %s is set, naming each part', (name) => {
    const refusal = refusalOf({ ...NOTHING, kubectl: there }, { [name]: '1' });
    expect(refusal).toBe(`${name} is set, so no real part may be missing. Missing:
  PostgreSQL: build it
  pg_dump: build it
  etcd: build it
  kube-apiserver: build it`);
  });

  it('says so for each, with how to get it', async () => {
    expect(await describeParts(NOTHING, {})).toEqual(
      ['PostgreSQL', 'pg_dump', 'etcd', 'kube-apiserver', 'kubectl'].map(
        (part) =>
          `real part ${part}: NOT FOUND, tests that need it are skipped; to get it, build it`,
      ),
    );
  });
});

describe('a run that has its parts', () => {
  it('begins in CI, where no server runs already', () => {
    expect(refusalOf(EVERYTHING, { CI: 'true', REQUIRE_REAL: '1' })).toBeNull();
  });

  it('tells version and place of each, the home folder as ~', async () => {
    const home = mkdtempSync(join(tmpdir(), 'home-'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    mkdirSync(join(home, 'bin'));
    const etcd = join(home, 'bin', 'etcd');
    writeFileSync(etcd, '#!/bin/sh\necho "etcd Version: 3.6.16"\necho "Go Version: go1.26.8"\n');
    chmodSync(etcd, 0o755);
    const lines = await describeParts(
      { ...NOTHING, etcd: { found: true, path: etcd } },
      { HOME: home },
    );
    expect(lines).toContain('real part etcd: 3.6.16, ~/bin/etcd');
  });

  it('names the server of DATABASE_URL without its password', async () => {
    const url = 'postgres://somebody:unspeakable@db.example:5433/tests';
    const lines = await describeParts({ ...NOTHING, postgresServer: { found: true, url } }, {});
    expect(lines.at(-1)).toBe(
      'real part PostgreSQL server: as DATABASE_URL names it, db.example:5433/tests',
    );
  });
});
