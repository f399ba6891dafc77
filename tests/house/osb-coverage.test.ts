// Makes docs/osb-coverage.md: each row of the OSB checklist with the tests whose titles begin with its number, read
// from the test files themselves, or with the reason why there is none. When the page on disk is another one, this fails:
// `npx vitest run tests/house/osb-coverage.test.ts -u` writes it.

import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { OSB_GROUPS, type OsbRow } from './osb-rows.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

const TEST_FILES = ['src/**/*.test.ts', 'tests/**/*.test.ts', 'tests/conformance/cases/*.ts'];

/** `C1: …`, `C1, C4: …`: at the start of a title, or of the row of a table that a title is made of. */
const NUMBERED = /^(C\d+(?:, C\d+)*): (.+)$/s;

interface Shown {
  readonly file: string;
  readonly title: string;
  readonly numbers: readonly number[];
}

const rows = new Map<number, OsbRow>(
  OSB_GROUPS.flatMap(({ first, rows: inGroup }) =>
    inGroup.map((row, at) => [first + at, asRow(row)] as const),
  ),
);

const files = globSync(TEST_FILES, { cwd: REPOSITORY })
  .filter((file) => !file.startsWith('tests/house/'))
  .sort();
const literals = files.flatMap((file) => textsOf(file).map((text) => ({ file, text })));
const shown = literals.flatMap(({ file, text }) => shownIn(file, text));

function asRow(row: string | readonly [string, string]): OsbRow {
  return typeof row === 'string' ? { says: row } : { says: row[0], reason: row[1] };
}

/** Every text of a test file: titles, and the tables that titles are made of. */
function textsOf(file: string): readonly string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(resolve(REPOSITORY, file), 'utf8'),
    ts.ScriptTarget.ESNext,
  );
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

function shownIn(file: string, text: string): readonly Shown[] {
  const [, numbers = '', title = ''] = NUMBERED.exec(text) ?? [];
  if (numbers === '') return [];
  return [{ file, title, numbers: numbers.split(', ').map((number) => Number(number.slice(1))) }];
}

function testsOf(number: number): readonly Shown[] {
  return shown.filter(({ numbers }) => numbers.includes(number));
}

describe('the checklist of OSB 2.17', () => {
  it('has 152 rows, each with one number', () => {
    expect([...rows.keys()]).toEqual(Array.from({ length: 152 }, (_, at) => at + 1));
  });

  it('is shown by titles whose numbers can be read and exist', () => {
    const nearly = literals.filter(({ text }) => /^C\d+\b.*: /.test(text) && !NUMBERED.test(text));
    const unknown = shown.filter(({ numbers }) => numbers.some((number) => !rows.has(number)));

    expect({ nearly, unknown }).toEqual({ nearly: [], unknown: [] });
  });

  it('has a test for each row, or a reason why it has none, and not both', () => {
    const kindOf = (number: number, { reason }: OsbRow) =>
      `${testsOf(number).length > 0 ? 'tests' : ''}${reason === undefined ? '' : 'reason'}`;
    const wrong = [...rows]
      .map(([number, row]) => [`C${number}`, kindOf(number, row)])
      .filter(([, kind]) => kind !== 'tests' && kind !== 'reason');

    expect(wrong).toEqual([]);
  });

  it('is on the page as it is here', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/osb-coverage.md');
  });
});

function page(): string {
  const groups = OSB_GROUPS.map(({ title, first, rows: inGroup }) => {
    const entries = inGroup.map((row, at) => entryOf(first + at, asRow(row)));
    return `## ${title}\n\n${entries.join('\n')}`;
  });
  return `${[INTRODUCTION, ...groups].join('\n\n')}\n`;
}

const INTRODUCTION = `# What of OSB 2.17 is shown by which test

Each row of the checklist that this broker is held to, made of [OSB
2.17](https://github.com/openservicebrokerapi/servicebroker/blob/v2.17/spec.md) and its
[profile](https://github.com/openservicebrokerapi/servicebroker/blob/v2.17/profile.md), with the tests whose
titles begin with its number, or with the reason why there is none. \`conformance\` stands for the [black-box
suite](../tests/conformance/README.md), which runs against any broker. In a title, \`%s\`, \`%d\`, \`%j\` and
\`$name\` stand for what a table fills in.

This page is made by \`tests/house/osb-coverage.test.ts\`, which fails when it is not as the tests are:
\`npx vitest run tests/house/osb-coverage.test.ts -u\` writes it anew.`;

function entryOf(number: number, { says, reason }: OsbRow): string {
  const byFile = Map.groupBy(testsOf(number), ({ file }) => file);
  const tests = [...byFile].map(([file, inFile]) => {
    const titles = [...new Set(inFile.map(({ title }) => `“${escaped(title)}”`))];
    return `[${nameOf(file)}](../${file}): ${titles.join(', ')}`;
  });
  const shownBy = reason === undefined ? tests : [`No test. ${reason}`];
  return [`- **C${number}** ${says}`, ...shownBy.map((line) => `  - ${line}`)].join('\n');
}

function nameOf(file: string): string {
  return file.replace(/^tests\/conformance\/cases\//, 'conformance/').replace(/(\.test)?\.ts$/, '');
}

/** As text of Markdown, where `<` would begin a tag and `_` and `*` would set it in italics. */
function escaped(title: string): string {
  return title
    .replaceAll('|', '\\|')
    .replaceAll('*', '\\*')
    .replaceAll('_', '\\_')
    .replaceAll('<', '&lt;');
}
