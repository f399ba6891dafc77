// What tests say that they show: the texts of all test files, and how a page of the docs names the tests of a row. Which
// texts carry the number of which list is known to the test that makes the list's page.

import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

const REPOSITORY = resolve(import.meta.dirname, '../..');

const TEST_FILES = ['src/**/*.test.ts', 'tests/**/*.test.ts', 'tests/conformance/cases/*.ts'];

/** A title, or another text of a test file: titles are made of the rows of tables too. */
export interface TestText {
  readonly file: string;
  readonly text: string;
}

/** A title that begins with numbers of a list. */
export interface Shown {
  readonly file: string;
  /** Without the numbers. */
  readonly title: string;
  readonly numbers: readonly number[];
}

export interface Row {
  readonly says: string;
  /** Why no test shows it; undefined where tests do. */
  readonly reason?: string;
}

/** All but those of this folder, which are about the lists themselves. */
export function readTestTexts(): readonly TestText[] {
  return globSync(TEST_FILES, { cwd: REPOSITORY })
    .filter((file) => !file.startsWith('tests/house/'))
    .sort()
    .flatMap((file) => textsOf(file).map((text) => ({ file, text })));
}

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

export function showing(shown: readonly Shown[], number: number): readonly Shown[] {
  return shown.filter(({ numbers }) => numbers.includes(number));
}

/** Rows that have neither tests nor a reason, or both. */
export function unsettled(
  rows: ReadonlyMap<number, Row>,
  shown: readonly Shown[],
): readonly (readonly [number: number, is: string])[] {
  return [...rows].flatMap(([number, { reason }]) => {
    const hasTests = showing(shown, number).length > 0;
    if (hasTests !== (reason !== undefined)) return [];
    return [[number, hasTests ? 'has tests and a reason' : 'has neither tests nor a reason']];
  });
}

/** The row as an item of a list, its tests below it, or the reason why there is none. */
export function itemOf(name: string, row: Row, tests: readonly Shown[]): string {
  const byFile = Map.groupBy(tests, ({ file }) => file);
  const lines = [...byFile].map(([file, inFile]) => {
    const titles = [...new Set(inFile.map(({ title }) => `“${escaped(title)}”`))];
    return `[${nameOf(file)}](../${file}): ${titles.join(', ')}`;
  });
  const shownBy = row.reason === undefined ? lines : [`No test. ${row.reason}`];
  return [`- **${name}** ${row.says}`, ...shownBy.map((line) => `  - ${line}`)].join('\n');
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
