// Whoever reads a comment can open what it refers to: a page of this repository by a section that is there, or the OSB
// specification. Rows of the checklist (C31) are in docs/osb-coverage.md.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

const REPOSITORY = resolve(import.meta.dirname, '../..');

const PLACES = [
  '.ci',
  'bench',
  'demo',
  'docs',
  'scripts',
  'src',
  'tests',
  '.dependency-cruiser.mjs',
  '.oxlintrc.json',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'knip.jsonc',
  'vitest.config.ts',
];

/** Notes from before the first line of code: by their names, and as they were cited. */
const OUT_OF_REACH =
  /\b(?:contract|design|osb|kyma|lessons|style)\.md\b|\b(?:contract|design|issue) \d[\d.]*(?=[,;:.)]| and\b|$)|\bthe contract(?:'s)?\b|\bissue "/giu;

const PAGE =
  /\b(?<page>docs\/[\w/-]+\.md)(?:,(?: from)? "(?<first>[^"]+)"(?: (?:and|to) "(?<second>[^"]+)")?)?/gu;

/** A comment as one line, since a reference may go on in the next one. */
function unwrapped(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\/\/|\*(?!\/)|#)?\s*/gu, ' ');
}

function outOfReach(text: string): readonly string[] {
  return unwrapped(text).match(OUT_OF_REACH) ?? [];
}

/** References to pages, or to sections of pages, that are not there. */
function dangling(text: string): readonly string[] {
  return [...unwrapped(text).matchAll(PAGE)].flatMap(({ groups = {} }) => {
    const { page = '', first, second } = groups;
    if (!existsSync(join(REPOSITORY, page))) return [page];
    const headings = headingsOf(page);
    return [first, second]
      .filter((section) => section !== undefined && !headings.has(section))
      .map((section) => `${page}, "${String(section)}"`);
  });
}

/** Without the number in front and the remark behind: `## 5. A hostile holder (long)`. */
function headingsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(join(REPOSITORY, page), 'utf8');
  const headings = [...text.matchAll(/^#+ (?:\d+\. )?(.+?)(?: \(.+\))?$/gmu)];
  return new Set(headings.map(([, heading = '']) => heading));
}

function filesIn(place: string): readonly string[] {
  const path = join(REPOSITORY, place);
  if (statSync(path).isFile()) return [place];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(REPOSITORY.length + 1));
}

/** But for this one, whose examples are to be found. */
const FILES = PLACES.flatMap(filesIn).filter((file) => file !== 'tests/house/references.test.ts');

function findings(find: (text: string) => readonly string[]): readonly string[] {
  return FILES.flatMap((file) =>
    find(readFileSync(join(REPOSITORY, file), 'utf8')).map((found) => `${file}: ${found}`),
  );
}

describe('a reference in code, comments and pages', () => {
  it('is to nothing that lies outside of the repository', () => {
    expect(findings(outOfReach)).toEqual([]);
    expect(FILES.length).toBeGreaterThan(500);
  });

  it('is to pages and sections that are there', () => {
    expect(findings(dangling)).toEqual([]);
  });
});

describe('the search for them', () => {
  it.each([
    `// Held to its time (contract 4, "Limits of time").`,
    ` * read, and nothing else (contract\n * 3).`,
    `/** Of contract 1 and 4. */`,
    `// by the rows alone (design 2.1; C148).`,
    `// operations, once (issue 3, section 3).`,
    `/** Cloud Controller refuses larger ones (osb.md C45). */`,
    `The answer is the contract's.`,
  ])('finds %j', (text) => {
    expect(outOfReach(text)).toHaveLength(1);
  });

  it.each([
    ['// (docs/nowhere.md)', ['docs/nowhere.md']],
    ['// (docs/api.md, "No\n// such section")', ['docs/api.md, "No such section"']],
    ['// (docs/api.md, "Bind" and "Loose")', ['docs/api.md, "Loose"']],
    ['// (docs/api.md, from "Bind" to "Unbind"; docs/reliability.md, "Neighbours")', []],
  ])('finds in %j what is not there', (text, expected) => {
    expect(dangling(text)).toEqual(expected);
  });
});
