import { describe, expect, it } from 'vitest';

import type { Environment } from './environment.ts';
import { type ReadingOptions, readConfig } from './read-config.ts';
import { showConfig } from './show-config.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

const KEPT = {
  'folder/platform-password': 'kept-password\n',
  'folder/operator-password': 'kept-operator-password\n',
  'folder/sealing-keys': `first:${KEY}\n`,
};

const HERE: Environment = { RUNTIME_BROKER_DATA_DIR: 'folder' };

const NO_JUDGES = {
  databaseUrl: () => undefined,
  parameterSchema: () => undefined,
  kubeconfig: () => undefined,
};

function read(
  env: Environment,
  files: Readonly<Record<string, string>>,
  options: ReadingOptions = {},
) {
  const asked: string[] = [];
  const readFile = (path: string) => {
    asked.push(path);
    const text = files[path];
    if (text === undefined) {
      throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
    }
    return text;
  };
  return { ...readConfig(env, readFile, { ...NO_JUDGES, ...options }), asked };
}

function passwordOf(result: ReturnType<typeof read>): string | undefined {
  const auth = result.ok ? result.config.platformAuth : undefined;
  return auth?.kind === 'basic' ? auth.password.reveal() : undefined;
}

function operatorPasswordOf(result: ReturnType<typeof read>): string | undefined {
  const auth = result.ok ? result.config.operatorAuth : undefined;
  return auth?.kind === 'basic' ? auth.password.reveal() : undefined;
}

describe('a configuration without DATABASE_URL', () => {
  it('is the embedded default, with the secrets that its data folder keeps', () => {
    const result = read(HERE, KEPT);

    expect(result).toMatchObject({
      ok: true,
      config: {
        database: { kind: 'embedded', dataFolder: 'folder' },
        operatorAuth: { kind: 'basic', username: 'operator' },
        sealingKeys: [{ id: 'first' }],
      },
      kept: [
        'RUNTIME_BROKER_PASSWORD',
        'RUNTIME_BROKER_OPERATOR_PASSWORD',
        'RUNTIME_BROKER_SEALING_KEYS',
      ],
    });
    expect(passwordOf(result)).toBe('kept-password');
    expect(operatorPasswordOf(result)).toBe('kept-operator-password');
  });

  it('has its data folder where docs/configuration.md says unless told', () => {
    const { asked } = read({}, {});

    expect(asked).toEqual([
      '.runtime-broker/platform-password',
      '.runtime-broker/operator-password',
      '.runtime-broker/sealing-keys',
    ]);
  });

  it('prefers what the environment gives, and does not ask for the kept one then', () => {
    const given = {
      RUNTIME_BROKER_PASSWORD: 'given',
      RUNTIME_BROKER_OPERATOR_PASSWORD: 'given-to-operators',
    };
    const result = read({ ...HERE, ...given }, KEPT);

    expect(passwordOf(result)).toBe('given');
    expect(operatorPasswordOf(result)).toBe('given-to-operators');
    expect(result.ok && result.kept).toEqual(['RUNTIME_BROKER_SEALING_KEYS']);
    expect(result.asked).toEqual(['folder/sealing-keys']);
  });

  it('needs no password of the platform without authentication; operators have theirs', () => {
    const result = read({ ...HERE, RUNTIME_BROKER_AUTH: 'none' }, KEPT);

    expect(result.ok && result.kept).toEqual([
      'RUNTIME_BROKER_OPERATOR_PASSWORD',
      'RUNTIME_BROKER_SEALING_KEYS',
    ]);
  });

  it.each([
    ['are missing', {}, 'a file that cannot be read (ENOENT)'],
    [
      'are empty',
      {
        'folder/platform-password': '\n',
        'folder/operator-password': '\r\n',
        'folder/sealing-keys': '',
      },
      'an empty file',
    ],
  ])('has a fault for each of its secrets that %s', (_, files, found) => {
    const result = read(HERE, files);

    expect(result.ok ? [] : result.faults).toEqual([
      {
        path: 'folder/platform-password',
        found,
        allowed: 'the secret that RUNTIME_BROKER_PASSWORD would hold',
      },
      {
        path: 'folder/operator-password',
        found,
        allowed: 'the secret that RUNTIME_BROKER_OPERATOR_PASSWORD would hold',
      },
      {
        path: 'folder/sealing-keys',
        found,
        allowed: 'the secret that RUNTIME_BROKER_SEALING_KEYS would hold',
      },
    ]);
  });

  it('can be looked at before they were made', () => {
    expect(read(HERE, {}, { withStandIns: true }).ok).toBe(true);
  });

  it('is not what a faulty DATABASE_URL falls back to', () => {
    const result = read({ ...HERE, DATABASE_URL: 'mysql://db' }, KEPT);

    expect(result.ok ? [] : result.faults.map(({ path }) => path)).toEqual([
      'env DATABASE_URL',
      'env RUNTIME_BROKER_PASSWORD',
      'env RUNTIME_BROKER_SEALING_KEYS',
    ]);
    expect(result.asked).toEqual([]);
  });
});

describe('a configuration with DATABASE_URL', () => {
  it('looks at no data folder', () => {
    const result = read(
      {
        ...HERE,
        DATABASE_URL: 'postgres://db/broker',
        RUNTIME_BROKER_PASSWORD: 'given',
        RUNTIME_BROKER_SEALING_KEYS: `first:${KEY}`,
      },
      KEPT,
    );

    expect(result.ok && result.kept).toEqual([]);
    expect(result.asked).toEqual([]);
  });
});

describe('the effective configuration', () => {
  it('is shown without a secret in it', () => {
    const result = read(
      {
        DATABASE_URL: 'postgres://broker:pg-secret@db:5432/broker?sslpassword=tls-secret',
        RUNTIME_BROKER_LISTEN: '[::1]:8080',
        RUNTIME_BROKER_PASSWORD: 'platform-secret',
        RUNTIME_BROKER_OPERATOR_PASSWORD: 'operators-secret',
        RUNTIME_BROKER_SEALING_KEYS: `first:${KEY}`,
      },
      {},
    );
    const shown = result.ok ? showConfig(result.config) : '';

    expect(shown).toContain('publicListen: "[::1]:8080"\n');
    expect(shown).toContain('url: postgres://broker:[secret]@db:5432/broker\n');
    expect(shown).toContain('- id: first\n    key: "[secret]"\n');
    expect(shown).toContain('plans:\n  aws:\n    id: 361c511f-f939-4621-b228-d0fb79a1fe15\n');
    expect(shown).toContain(
      'operatorAuth:\n  kind: basic\n  username: operator\n  password: "[secret]"\n',
    );
    expect(shown).not.toMatch(/pg-secret|tls-secret|platform-secret|operators-secret/);
    expect(shown).not.toContain(KEY);
  });

  it('names the data folder where the database is embedded', () => {
    const result = read(HERE, KEPT);

    expect(result.ok ? showConfig(result.config) : '').toContain(
      'database:\n  kind: embedded\n  dataFolder: folder\n',
    );
  });
});
