// Makes docs/keb-defects.md: each defect of Kyma Environment Broker with the tests whose titles name it, read from the
// test files themselves, or with the reason why there is none. When the page on disk is another one, this fails:
// `npx vitest run tests/house/keb-defects.test.ts -u` writes it.

import { describe, expect, it } from 'vitest';
import { DEFECT_GROUPS } from './keb-defects.ts';
import {
  itemOf,
  readTestTexts,
  type Row,
  type Shown,
  showing,
  type TestText,
  unsettled,
} from './shown-by-tests.ts';

/** `KEB defect 1: …`, `KEB defects 1, 2 and 3: …`; rows of the OSB checklist may stand before it. */
const NUMBERED =
  /^(?:C\d+(?:, C\d+)*: )?KEB (?:defect (\d+)|defects (\d+(?:, \d+)* and \d+)): (.+)$/s;

const rows = new Map<number, Row>(
  DEFECT_GROUPS.flatMap(({ first, defects }) =>
    defects.map((defect, at) => [first + at, asRow(defect)] as const),
  ),
);

const texts = readTestTexts();
const shown = texts.flatMap(shownIn);

function asRow(defect: string | readonly [string, string]): Row {
  return typeof defect === 'string' ? { says: defect } : { says: defect[0], reason: defect[1] };
}

function shownIn({ file, text }: TestText): readonly Shown[] {
  const [, one, several, title = ''] = NUMBERED.exec(text) ?? [];
  const numbers = one ?? several;
  if (numbers === undefined) return [];
  return [{ file, title, numbers: numbers.split(/, | and /).map(Number) }];
}

describe('the defects of Kyma Environment Broker', () => {
  it('are 45, each with one number', () => {
    expect([...rows.keys()]).toEqual(Array.from({ length: 45 }, (_, at) => at + 1));
  });

  it('are named by titles whose numbers can be read and exist', () => {
    const nearly = texts.filter(
      ({ text }) => /\bKEB (?:defects? )?\d/.test(text) && !NUMBERED.test(text),
    );
    const unknown = shown.filter(({ numbers }) => numbers.some((number) => !rows.has(number)));

    expect({ nearly, unknown }).toEqual({ nearly: [], unknown: [] });
  });

  it('have each a test, or a reason why there is none, and not both', () => {
    expect(unsettled(rows, shown)).toEqual([]);
  });

  it('are on the page as they are here', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/keb-defects.md');
  });
});

function page(): string {
  const groups = DEFECT_GROUPS.map(({ title, first, defects }) => {
    const items = defects.map((defect, at) =>
      itemOf(String(first + at), asRow(defect), showing(shown, first + at)),
    );
    return `## ${title}\n\n${items.join('\n')}`;
  });
  return `${[INTRODUCTION, ...groups].join('\n\n')}\n`;
}

const INTRODUCTION = `# Which defects of Kyma Environment Broker are not here

Kyma Environment Broker (KEB) is the broker that issues kubeconfigs for SAP BTP, Kyma runtime. Reading its sources
(1.35) and running it showed 45 defects, of which most let a credential leak or keep somebody from his cluster. Here
they are, in short words, each with the tests that name it and do what brought it about there, or with the reason why
there is none. In a title, \`%s\`, \`%d\`, \`%j\` and \`$name\` stand for what a table fills in.

This page is made by \`tests/house/keb-defects.test.ts\`, which fails when it is not as the tests are:
\`npx vitest run tests/house/keb-defects.test.ts -u\` writes it anew.`;
