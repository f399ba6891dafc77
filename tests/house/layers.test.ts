// Holds .dependency-cruiser.mjs to its word: a tree that breaks each rule once is cruised with the real configuration,
// and each break must be found, under its rule's name, and nothing else. The table is written out here a second time,
// from docs/architecture.md, so that a slip in the configuration does not change what is expected of it.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);

const REPOSITORY = resolve(import.meta.dirname, '../..');

const MAY_IMPORT: Record<string, readonly string[]> = {
  domain: [],
  config: ['domain'],
  observability: ['domain'],
  storage: ['domain', 'observability'],
  kubernetes: ['domain', 'observability'],
  provisioners: ['domain', 'observability', 'kubernetes'],
  'provisioners/sandbox': [
    'domain',
    'observability',
    'kubernetes',
    'provisioners',
    'sandbox-cluster',
  ],
  broker: ['domain', 'config', 'observability', 'storage', 'kubernetes', 'provisioners'],
  background: [
    'domain',
    'config',
    'observability',
    'storage',
    'kubernetes',
    'provisioners',
    'broker',
  ],
  http: ['domain', 'observability', 'broker'],
  app: [
    'domain',
    'config',
    'observability',
    'storage',
    'kubernetes',
    'provisioners',
    'broker',
    'background',
    'http',
  ],
  client: [],
  cli: ['client'],
  'sandbox-cluster': [],
};

/** Package → the folders that may import it, and one that may not. */
const HOMES: Record<string, { readonly home: readonly string[]; readonly notIn: string }> = {
  fastify: { home: ['http'], notIn: 'app' },
  '@fastify/swagger': { home: ['http'], notIn: 'app' },
  typebox: { home: ['http'], notIn: 'config' },
  jose: { home: ['http'], notIn: 'app' },
  kysely: { home: ['storage'], notIn: 'broker' },
  pg: { home: ['storage'], notIn: 'background' },
  'pg-boss': { home: ['storage'], notIn: 'background' },
  '@electric-sql/pglite': { home: ['storage'], notIn: 'app' },
  undici: { home: ['kubernetes'], notIn: 'provisioners' },
  pino: { home: ['observability'], notIn: 'http' },
  'pino-pretty': { home: ['observability'], notIn: 'app' },
  'prom-client': { home: ['observability'], notIn: 'http' },
  yaml: { home: ['config', 'kubernetes'], notIn: 'provisioners' },
  ajv: { home: ['broker'], notIn: 'http' },
  'ajv-draft-04': { home: ['broker'], notIn: 'http' },
  'ajv-formats': { home: ['broker'], notIn: 'config' },
  commander: { home: ['cli', 'app'], notIn: 'client' },
};

/** What the fixture pretends to have installed. */
const PACKAGES = [...Object.keys(HOMES), 'left-pad'];
const DEVELOPMENT_PACKAGES = ['kubernetes-types', 'vitest'];

interface Case {
  readonly file: string;
  readonly code: string;
  /** Names of the rules that must fire for this file; none: it is allowed. */
  readonly rules: readonly string[];
}

const layerCases: Case[] = Object.entries(MAY_IMPORT).flatMap(([layer, allowed]) =>
  Object.keys(MAY_IMPORT)
    .filter((other) => other !== layer)
    .map((other) => ({
      file: `src/${layer}/imports-${other.replace('/', '-')}.ts`,
      code: importOf(`src/${layer}/x.ts`, `src/${other}/target.ts`),
      rules: isAllowed([layer, ...allowed], other) ? [] : [`layer-${layer.replace('/', '-')}`],
    })),
);

const packageCases: Case[] = Object.entries(HOMES).flatMap(([name, { home, notIn }]) =>
  [...home, notIn].map((folder) => ({
    file: `src/${folder}/imports-${name.replace('/', '-')}.ts`,
    code: `import '${name}';`,
    rules: folder === notIn ? [`home-of-${name.replace(/\/(swagger|pglite)$/, '')}`] : [],
  })),
);

const singleCases: Case[] = [
  {
    file: 'src/domain/imports-pg.ts',
    code: "import 'pg';",
    rules: ['domain-stands-alone', 'home-of-pg'],
  },
  {
    file: 'src/domain/imports-node.ts',
    code: "import 'node:crypto';",
    rules: ['domain-stands-alone'],
  },
  {
    file: 'src/http/imports-status.ts',
    code: "import type {} from '../background/status.ts';",
    rules: [],
  },
  {
    file: 'src/broker/imports-a-type-from-http.ts',
    code: "import type {} from '../http/target.ts';",
    rules: ['layer-broker'],
  },
  { file: 'src/broker/imports-node.ts', code: "import 'node:crypto';", rules: [] },
  {
    file: 'src/app/imports-unknown-folder.ts',
    code: "import '../stray/target.ts';",
    rules: ['layer-app'],
  },
  {
    file: 'src/stray/imports-domain.ts',
    code: "import '../domain/target.ts';",
    rules: ['folder-without-layer'],
  },
  {
    file: 'src/app/imports-left-pad.ts',
    code: "import 'left-pad';",
    rules: ['package-without-home'],
  },
  {
    file: 'src/app/imports-tests.ts',
    code: "import '../../tests/support/target.ts';",
    rules: ['product-without-test-code'],
  },
  {
    file: 'src/app/imports-demo.ts',
    code: "import '../../demo/target.ts';",
    rules: ['product-without-test-code'],
  },
  {
    file: 'src/app/imports-a-test.ts',
    code: "import './freely.test.ts';",
    rules: ['product-without-test-code'],
  },
  {
    file: 'src/kubernetes/imports-dev-types.ts',
    code: "import type {} from 'kubernetes-types';",
    rules: [],
  },
  {
    file: 'src/http/imports-dev-types.ts',
    code: "import type {} from 'kubernetes-types';",
    rules: ['home-of-kubernetes-types'],
  },
  {
    file: 'src/kubernetes/imports-dev-values.ts',
    code: "import 'kubernetes-types';",
    rules: ['product-without-dev-dependency'],
  },
  {
    file: 'src/app/freely.test.ts',
    code: "import 'vitest'; import 'pg'; import '../cli/target.ts';",
    rules: [],
  },
  { file: 'src/domain/freely.test.ts', code: "import 'vitest'; import 'node:fs';", rules: [] },
  {
    file: 'tests/support/freely.ts',
    code: "import 'vitest'; import 'pg'; import '../../src/storage/target.ts';",
    rules: [],
  },
  {
    file: 'tests/conformance/imports-the-product.ts',
    code: "import type {} from '../../src/domain/target.ts';",
    rules: ['conformance-is-black-box'],
  },
  {
    file: 'tests/conformance/imports-test-support.ts',
    code: "import '../support/target.ts';",
    rules: ['conformance-is-black-box'],
  },
  {
    file: 'tests/conformance/cases/freely.ts',
    code: "import 'vitest'; import 'pg'; import 'node:http'; import '../target.ts';",
    rules: [],
  },
  {
    file: 'src/broker/cycle-a.ts',
    code: "import type { B } from './cycle-b.ts'; export type A = B | 1;",
    rules: ['no-cycle'],
  },
  {
    // A cycle is reported once, at the first of its files.
    file: 'src/broker/cycle-b.ts',
    code: "import type { A } from './cycle-a.ts'; export type B = A | 2;",
    rules: [],
  },
  {
    file: 'tests/support/cycle-c.ts',
    code: "import { d } from './cycle-d.ts'; export const c = () => d;",
    rules: ['no-cycle'],
  },
  {
    file: 'tests/support/cycle-d.ts',
    code: "import { c } from './cycle-c.ts'; export const d = () => c;",
    rules: [],
  },
  {
    file: 'src/broker/barrel.ts',
    code: "export * from './target.ts';",
    rules: ['no-barrel'],
  },
  {
    file: 'src/broker/barrel-of-one-type.ts',
    code: "export type { Target } from './target.ts';",
    rules: ['no-barrel'],
  },
  {
    file: 'src/broker/imports-nothing-there.ts',
    code: "import './missing.ts';",
    rules: ['no-unresolved'],
  },
];

const cases = [...layerCases, ...packageCases, ...singleCases];

describe('the law of the layers', () => {
  let folder: string;
  let fired: Map<string, string[]>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'layers-'));
    await writeTree(folder);
    fired = await cruise(folder);
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it.each(Object.keys(MAY_IMPORT))('src/%s imports what the table allows and no more', (layer) => {
    expectOutcome(layerCases.filter(({ file }) => dirname(file) === `src/${layer}`));
  });

  it.each(Object.keys(HOMES))('%s is imported at home only', (name) => {
    expectOutcome(packageCases.filter(({ code }) => code === `import '${name}';`));
  });

  it.each(singleCases)('$file breaks $rules', (single) => {
    expectOutcome([single]);
  });

  it('finds nothing that is not in the table', () => {
    const known = new Set(cases.filter(({ rules }) => rules.length > 0).map(({ file }) => file));
    expect([...fired.keys()].filter((file) => !known.has(file))).toEqual([]);
  });

  function expectOutcome(expected: readonly Case[]): void {
    expect(expected.map(({ file }) => [file, fired.get(file) ?? []])).toEqual(
      expected.map(({ file, rules }) => [file, rules]),
    );
  }
});

function isAllowed(allowed: readonly string[], other: string): boolean {
  return allowed.some((name) => other === name || other.startsWith(`${name}/`));
}

function importOf(from: string, to: string): string {
  return `import '${relative(dirname(from), to).replace(/^(?!\.)/u, './')}';`;
}

async function writeTree(root: string): Promise<void> {
  const targets = [
    ...Object.keys(MAY_IMPORT).map((layer) => `src/${layer}/target.ts`),
    'src/background/status.ts',
    'src/stray/target.ts',
    'tests/support/target.ts',
    'tests/conformance/target.ts',
    'demo/target.ts',
  ].map((file) => ({ file, code: 'export type Target = 1;' }));
  const packages = [...PACKAGES, ...DEVELOPMENT_PACKAGES].flatMap((name) => [
    { file: `node_modules/${name}/package.json`, code: `{"name":"${name}","main":"index.js"}` },
    { file: `node_modules/${name}/index.js`, code: 'module.exports = {};' },
  ]);
  const settings = [
    { file: 'tsconfig.json', code: '{}' },
    {
      file: 'package.json',
      code: JSON.stringify({
        type: 'module',
        dependencies: Object.fromEntries(PACKAGES.map((name) => [name, '1.0.0'])),
        devDependencies: Object.fromEntries(DEVELOPMENT_PACKAGES.map((name) => [name, '1.0.0'])),
      }),
    },
  ];
  for (const { file, code } of [...targets, ...packages, ...settings, ...cases]) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), code);
  }
}

/** File of the tree → the names of the rules that it breaks, sorted. */
async function cruise(root: string): Promise<Map<string, string[]>> {
  const { stdout } = await run(
    process.execPath,
    [
      join(REPOSITORY, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
      '--config',
      join(REPOSITORY, '.dependency-cruiser.mjs'),
      '--output-type',
      'json',
      '.',
    ],
    { cwd: root, maxBuffer: 64 * 1024 * 1024 },
  );
  const { summary } = JSON.parse(stdout) as {
    summary: { violations: { from: string; rule: { name: string } }[] };
  };
  const found = new Map<string, Set<string>>();
  for (const { from, rule } of summary.violations) {
    found.set(from, (found.get(from) ?? new Set()).add(rule.name));
  }
  return new Map([...found].map(([file, rules]) => [file, [...rules].sort()]));
}
