// Where real parts are looked for, in which order, and what is said when they are not there.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findParts } from './find.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'find-parts-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const CACHED_API_SERVER = 'cache/kubernetes-1.36.3/kube-apiserver';

function program(path: string): string {
  const whole = join(root, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, '#!/bin/sh\n');
  chmodSync(whole, 0o755);
  return whole;
}

const findWith = (env: Record<string, string> = {}) =>
  findParts({
    env,
    cacheFolder: join(root, 'cache'),
    postgresVersionsFolder: join(root, 'postgresql'),
  });

describe('a part that is built', () => {
  it('is found in the cache, under the version of the go.mod file', () => {
    const path = program(CACHED_API_SERVER);
    expect(findWith().kubeApiserver).toEqual({ found: true, path });
  });

  it('is not found in the cache under another version', () => {
    program('cache/kubernetes-1.35.0/kube-apiserver');
    expect(findWith().kubeApiserver).toEqual({
      found: false,
      howToGet:
        'run `npm run real-parts` (builds kube-apiserver 1.36.3 with Go), or set KUBE_APISERVER to its path',
    });
  });

  it('is taken from its own variable before KUBEBUILDER_ASSETS, and from there before the cache', () => {
    program(CACHED_API_SERVER);
    const asset = program('assets/kube-apiserver');
    const named = program('named');
    const assets = { KUBEBUILDER_ASSETS: join(root, 'assets') };
    expect(findWith(assets).kubeApiserver).toEqual({ found: true, path: asset });
    const both = { ...assets, KUBE_APISERVER: named };
    expect(findWith(both).kubeApiserver).toEqual({ found: true, path: named });
  });

  it.each([
    ['KUBE_APISERVER', 'kubeApiserver'],
    ['ETCD', 'etcd'],
    ['KUBECTL', 'kubectl'],
  ] as const)('is missing when %s names nothing, whatever the cache holds', (variable, part) => {
    program(CACHED_API_SERVER);
    program('cache/kubernetes-1.36.3/kubectl');
    program('cache/etcd-3.6.16/etcd');
    expect(findWith({ [variable]: '/not/there' })[part]).toEqual({
      found: false,
      howToGet: expect.stringContaining(`${variable}=/not/there`) as string,
    });
  });

  it('counts an empty variable as unset', () => {
    const path = program(CACHED_API_SERVER);
    const env = { KUBE_APISERVER: '', KUBEBUILDER_ASSETS: '' };
    expect(findWith(env).kubeApiserver).toEqual({ found: true, path });
  });

  it('is no file that cannot be run', () => {
    chmodSync(program(CACHED_API_SERVER), 0o644);
    expect(findWith().kubeApiserver.found).toBe(false);
  });
});

describe('kubectl', () => {
  it('is taken from the cache before the PATH, and from the PATH when the cache has none', () => {
    const installed = program('bin/kubectl');
    const env = { PATH: join(root, 'bin') };
    expect(findWith(env).kubectl).toEqual({ found: true, path: installed });
    const built = program('cache/kubernetes-1.36.3/kubectl');
    expect(findWith(env).kubectl).toEqual({ found: true, path: built });
  });
});

describe('PostgreSQL', () => {
  it('is taken from the highest version that can serve', () => {
    for (const version of ['9', '15', '16']) {
      program(`postgresql/${version}/bin/initdb`);
      program(`postgresql/${version}/bin/postgres`);
    }
    // A client alone: nothing to start.
    program('postgresql/17/bin/pg_dump');
    const found = findWith();
    expect(found.postgresBinaries).toEqual({ found: true, path: join(root, 'postgresql/16/bin') });
    expect(found.pgDump).toEqual({ found: true, path: join(root, 'postgresql/17/bin/pg_dump') });
  });

  it('is taken from the PATH where the folders of Debian are not', () => {
    program('bin/initdb');
    program('bin/postgres');
    const env = { PATH: `/not/there:${join(root, 'bin')}` };
    expect(findWith(env).postgresBinaries).toEqual({ found: true, path: join(root, 'bin') });
  });

  it('is a server that runs where DATABASE_URL names one', () => {
    const url = 'postgres://somebody@host/db';
    expect(findWith({ DATABASE_URL: url }).postgresServer).toEqual({ found: true, url });
    expect(findWith().postgresServer.found).toBe(false);
  });

  it('has no pg_dump where it is missing itself, though a program of that name may be there', () => {
    program('bin/pg_dump');
    const env = { PATH: join(root, 'bin') };
    expect(findWith(env).pgDump).toEqual(findWith(env).postgresBinaries);
    const withServer = { ...env, DATABASE_URL: 'postgres://somebody@host/db' };
    expect(findWith(withServer).pgDump).toEqual({ found: true, path: join(root, 'bin/pg_dump') });
  });

  it('is missing with the package that brings it', () => {
    expect(findWith().postgresBinaries).toEqual({
      found: false,
      howToGet: 'install PostgreSQL 15 or newer (Debian: `apt-get install postgresql`)',
    });
  });
});
