// Holds .oxlintrc.json and scripts/house-rules.mjs to their word: a tree with one file for each law of the house is
// linted with the real configuration, and each file must break its rule, or none where the law lets it pass.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const REPOSITORY = resolve(import.meta.dirname, '../..');

const HEADER = '// A file of the fixture.\n';

interface Case {
  readonly law: string;
  readonly file: string;
  readonly code: string;
  /** Rules that must fire, in oxlint's form `plugin(rule)`; none: the file passes. */
  readonly rules: readonly string[];
}

const lines = (count: number) => 'f();\n'.repeat(count);
const branches = (count: number) => 'if (n) f();\n'.repeat(count);
/** More than the 10 ways that a function may have. */
const LETTERS = 'abcdefghijklm'.split('');

const imports = "import { f } from './f.ts';\n";

const cases: Case[] = [
  {
    law: 'a file has 300 lines at most',
    file: 'src/broker/long-file.ts',
    code: `${imports}${lines(300)}`,
    rules: ['eslint(max-lines)'],
  },
  {
    law: 'a test file may have 600',
    file: 'src/broker/long-file.test.ts',
    code: `${imports}${lines(590)}`,
    rules: [],
  },
  {
    law: 'a test file has 600 lines at most',
    file: 'tests/cluster/longer-file.test.ts',
    code: `${imports}${lines(600)}`,
    rules: ['eslint(max-lines)'],
  },
  {
    law: 'a function has 60 lines at most',
    file: 'src/broker/long-function.ts',
    code: `${imports}export function g(): void {\n${lines(60)}}\n`,
    rules: ['eslint(max-lines-per-function)'],
  },
  {
    law: 'a function has 10 ways at most',
    file: 'src/broker/many-ways.ts',
    code: `${imports}export function g(n: boolean): void {\n${branches(10)}}\n`,
    rules: ['eslint(complexity)'],
  },
  {
    law: 'a switch that answers a closed union is one way',
    file: 'src/broker/wide-switch.ts',
    code: `export function g(n: ${LETTERS.map((c) => `'${c}'`).join('|')}): string {
      switch (n) { ${LETTERS.map((c) => `case '${c}': return '${c}${c}';`).join('\n')} }
    }\n`,
    rules: [],
  },
  {
    law: 'blocks are nested 3 deep at most',
    file: 'src/broker/deep.ts',
    code: `${imports}export function g(n: number): void {
      if (n > 1) { while (n > 2) { if (n > 3) { if (n > 4) { f(); } } } }
    }\n`,
    rules: ['eslint(max-depth)'],
  },
  {
    law: 'a function takes 3 parameters at most',
    file: 'src/broker/four-parameters.ts',
    code: 'export const g = (a: number, b: number, c: number, d: number): number => a + b + c + d;\n',
    rules: ['eslint(max-params)'],
  },
  {
    law: 'there is no any',
    file: 'src/broker/any.ts',
    code: 'export type Anything = any;\n',
    rules: ['typescript(no-explicit-any)'],
  },
  {
    law: 'what JSON.parse answers is looked at before use',
    file: 'src/broker/parsed.ts',
    code: 'export const g = (s: string): string => JSON.parse(s);\n',
    rules: ['typescript(no-unsafe-return)'],
  },
  {
    law: 'nothing is declared to be there',
    file: 'src/broker/non-null.ts',
    code: 'export const g = (s: string | undefined): string => s!;\n',
    rules: ['typescript(no-non-null-assertion)'],
  },
  {
    law: 'no promise is left alone',
    file: 'src/broker/floating.ts',
    code: 'export function g(p: Promise<void>): void { p; void 0; }\n',
    rules: ['eslint(no-unused-expressions)', 'typescript(no-floating-promises)'],
  },
  {
    law: 'no promise is taken for its value',
    file: 'src/broker/misused.ts',
    code: 'export const g = (p: Promise<void>): number => (p ? 1 : 2);\n',
    rules: ['typescript(no-misused-promises)', 'typescript(no-unnecessary-condition)'],
  },
  {
    law: 'only promises are awaited',
    file: 'src/broker/awaited.ts',
    code: 'export async function g(n: number): Promise<number> { const m = await n; return m; }\n',
    rules: ['typescript(await-thenable)'],
  },
  {
    law: 'a switch answers every member of a union',
    file: 'src/broker/narrow-switch.ts',
    code: `${imports}export function g(n: 'a' | 'b'): void { switch (n) { case 'a': f(); } }\n`,
    rules: ['typescript(switch-exhaustiveness-check)'],
  },
  {
    law: 'whoever wraps an error keeps it',
    file: 'src/broker/lost-cause.ts',
    code: `${imports}export function g(): void { try { f(); } catch { throw new Error('lost'); } }
    export function h(): void { try { f(); } catch (error) { throw new Error(String(error)); } }\n`,
    rules: ['eslint(preserve-caught-error)'],
  },
  {
    law: 'exports have names',
    file: 'src/broker/default.ts',
    code: 'export default 1;\n',
    rules: ['import(no-default-export)'],
  },
  {
    law: 'a type is imported as one',
    file: 'src/broker/type-import.ts',
    code: "import { F } from './f.ts';\nexport const g = (f: F): F => f;\n",
    rules: ['typescript(consistent-type-imports)'],
  },
  {
    law: 'the product logs, it does not print',
    file: 'src/broker/prints.ts',
    code: "export const g = (): void => console.log('x');\n",
    rules: ['eslint(no-console)'],
  },
  {
    law: 'commands print',
    file: 'src/app/prints.ts',
    code: "export const g = (): void => console.log('x');\n",
    rules: [],
  },
  {
    law: 'the environment is read in src/config alone',
    file: 'src/app/reads-environment.ts',
    code: "export const g = (): string | undefined => process.env['X'];\n",
    rules: ['node(no-process-env)'],
  },
  {
    law: 'nor is it imported elsewhere',
    file: 'src/app/imports-environment.ts',
    code: "import { env } from 'node:process';\nexport const g = (): string | undefined => env['X'];\n",
    rules: ['eslint(no-restricted-imports)'],
  },
  {
    law: 'src/config reads the environment',
    file: 'src/config/reads-environment.ts',
    code: "export const g = (): string | undefined => process.env['X'];\n",
    rules: [],
  },
  {
    law: 'time and chance are arguments',
    file: 'src/domain/hidden-input.ts',
    code: 'export const g = (): unknown => [new Date(), Date.now(), Math.random(), new Date(1)];\n',
    rules: ['house(no-hidden-input)', 'house(no-hidden-input)', 'house(no-hidden-input)'],
  },
  {
    law: 'the composition brings time and chance',
    file: 'src/app/clock.ts',
    code: 'export const now = (): Date => new Date();\n',
    rules: [],
  },
  {
    law: 'a module has no state',
    file: 'src/broker/module-state.ts',
    code: `let count = 0;\nconst seen = new Map<string, number>();\nconst fixed = new Set(['a']);
    export const g = (s: string): unknown => { count += 1; return [seen.set(s, count), fixed]; };\n`,
    rules: ['house(no-module-state)', 'house(no-module-state)'],
  },
  {
    law: 'names of files say something',
    file: 'src/broker/binding-helpers.ts',
    code: 'export const one = 1;\n',
    rules: ['house(telling-names)'],
  },
  {
    law: 'names of types say something, and Kubernetes keeps its own',
    file: 'src/broker/type-names.ts',
    code: 'export interface BindingManager { a: ServiceAccount }\nexport interface ServiceAccount { b: 1 }\n',
    rules: ['house(telling-names)'],
  },
  {
    law: 'names of files are in kebab case',
    file: 'src/broker/camelCase.ts',
    code: 'export const one = 1;\n',
    rules: ['unicorn(filename-case)'],
  },
  {
    law: 'work to do is an issue',
    file: 'src/broker/to-do.ts',
    code: '// TODO: the rest\nexport const one = 1;\n',
    rules: ['eslint(no-warning-comments)'],
  },
  {
    law: 'no test is left alone, skipped or doubled by a mock of a module',
    file: 'tests/cluster/left.test.ts',
    code: `import { expect, it, vi } from 'vitest';
    vi.mock('./f.ts');
    it.only('is alone', () => { expect(1).toBe(1); });
    it.skip('is skipped', () => { expect(1).toBe(1); });\n`,
    rules: [
      'vitest(no-disabled-tests)',
      'vitest(no-focused-tests)',
      'vitest(no-restricted-vi-methods)',
    ],
  },
  {
    law: 'a test skips itself where a real part is missing',
    file: 'tests/cluster/skip-if.test.ts',
    code: `import { describe, expect, it } from 'vitest';
    describe.skipIf(Math.PI > 4)('a part', () => { it('works', () => { expect(1).toBe(1); }); });\n`,
    rules: [],
  },
];

describe('the law of a single file', () => {
  let folder: string;
  let found: Map<string, string[]>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lint-'));
    await writeTree(folder);
    found = await lint(folder);
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it.each(cases)('$law ($file)', ({ file, rules }) => {
    expect(found.get(file) ?? []).toEqual(rules);
  });

  it('a file opens with what it is for', () => {
    expect(found.get('src/broker/headless.ts')).toEqual(['house(header-comment)']);
  });

  it('nothing else is found', () => {
    const expected = cases.filter(({ rules }) => rules.length > 0).map(({ file }) => file);
    expect([...found.keys()].sort()).toEqual([...expected, 'src/broker/headless.ts'].sort());
  });
});

async function writeTree(root: string): Promise<void> {
  for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json', 'scripts']) {
    await cp(join(REPOSITORY, name), join(root, name), { recursive: true });
  }
  await symlink(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
  await write(join(root, 'src/broker/headless.ts'), 'export const one = 1;\n');
  const target = `${HEADER}export const f = (): void => undefined;\nexport type F = typeof f;\n`;
  await write(join(root, 'src/broker/f.ts'), target);
  await write(join(root, 'tests/cluster/f.ts'), target);
  for (const { file, code } of cases) await write(join(root, file), `${HEADER}${code}`);
}

async function write(path: string, code: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, code);
}

/** File of the tree → the rules that it breaks, once for each finding, sorted. */
async function lint(root: string): Promise<Map<string, string[]>> {
  const oxlint = join(REPOSITORY, 'node_modules/oxlint/bin/oxlint');
  const child = spawn(process.execPath, [oxlint, '--format', 'json', 'src', 'tests'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { filename: string; code: string }[];
  };
  const rules = Map.groupBy(diagnostics, ({ filename }) => filename);
  return new Map([...rules].map(([file, list]) => [file, list.map(({ code }) => code).sort()]));
}
