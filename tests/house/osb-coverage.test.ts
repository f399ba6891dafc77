// Makes docs/osb-coverage.md: each row of the OSB checklist with the tests whose titles begin with its number, read
// from the test files themselves, or with the reason why there is none. When the page on disk is another one, this fails:
// `npx vitest run tests/house/osb-coverage.test.ts -u` writes it.

import { describe, expect, it } from 'vitest';
import { OSB_GROUPS } from './osb-rows.ts';
import {
  itemOf,
  type Row,
  type Shown,
  showing,
  readTestTexts,
  type TestText,
  unsettled,
} from './shown-by-tests.ts';

/** `C1: …`, `C1, C4: …`: at the start of a title, or of the row of a table that a title is made of. */
const NUMBERED = /^(C\d+(?:, C\d+)*): (.+)$/s;

const rows = new Map<number, Row>(
  OSB_GROUPS.flatMap(({ first, rows: inGroup }) =>
    inGroup.map((row, at) => [first + at, asRow(row)] as const),
  ),
);

const texts = readTestTexts();
const shown = texts.flatMap(shownIn);

function asRow(row: string | readonly [string, string]): Row {
  return typeof row === 'string' ? { says: row } : { says: row[0], reason: row[1] };
}

function shownIn({ file, text }: TestText): readonly Shown[] {
  const [, numbers = '', title = ''] = NUMBERED.exec(text) ?? [];
  if (numbers === '') return [];
  return [{ file, title, numbers: numbers.split(', ').map((number) => Number(number.slice(1))) }];
}

describe('the checklist of OSB 2.17', () => {
  it('has 152 rows, each with one number', () => {
    expect([...rows.keys()]).toEqual(Array.from({ length: 152 }, (_, at) => at + 1));
  });

  it('is shown by titles whose numbers can be read and exist', () => {
    const nearly = texts.filter(({ text }) => /^C\d+\b.*: /.test(text) && !NUMBERED.test(text));
    const unknown = shown.filter(({ numbers }) => numbers.some((number) => !rows.has(number)));

    expect({ nearly, unknown }).toEqual({ nearly: [], unknown: [] });
  });

  it('has a test for each row, or a reason why it has none, and not both', () => {
    expect(unsettled(rows, shown)).toEqual([]);
  });

  it('is on the page as it is here', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/osb-coverage.md');
  });
});

function page(): string {
  const groups = OSB_GROUPS.map(({ title, first, rows: inGroup }) => {
    const items = inGroup.map((row, at) =>
      itemOf(`C${first + at}`, asRow(row), showing(shown, first + at)),
    );
    return `## ${title}\n\n${items.join('\n')}`;
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
