import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

import { BUILT_IN_PLANS, OFFERING } from './built-in-plans.ts';

// Typed by hand: platforms keep these ids for as long as an instance lives, so they are pinned here.
const GOLDEN = [
  ['aws', '361c511f-f939-4621-b228-d0fb79a1fe15', false],
  ['azure', '4deee563-e5ec-4731-b9b1-53b42d855f0c', false],
  ['gcp', 'ca6e5357-707f-4565-bbbd-b3ab732597c6', false],
  ['azure_lite', '8cb22518-aa26-44c5-91a0-e669ec9bf443', false],
  ['trial', '7d55d31d-35ae-4438-bf13-6ffdfa107d9f', true],
  ['free', 'b1a5764e-2ea1-4f95-94c0-2b4538b37b55', true],
  ['own_cluster', '03e3cb66-a4c6-4c6a-b4b0-5d42224debea', true],
  ['sandbox', '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11', true],
];

it('the built-in plans keep their names, ids and prices', () => {
  expect(BUILT_IN_PLANS.map(({ name, id, free }) => [name, id, free])).toEqual(GOLDEN);
  expect(OFFERING).toMatchObject({
    name: 'kymaruntime',
    id: '47c9dcbf-ff30-448e-ab36-d3bad66ba281',
  });
});

it.each(BUILT_IN_PLANS)('$name is bindable for 600 to 7200 seconds, ten at a time', (plan) => {
  expect(plan).toMatchObject({
    bindable: true,
    enabled: true,
    namespace: 'kyma-system',
    binding: { defaultSeconds: 600, minSeconds: 600, maxSeconds: 7200, maxLive: 10 },
  });
});

it.each(BUILT_IN_PLANS)('the schemas of $name are valid draft-04', (plan) => {
  const require = createRequire(import.meta.url);
  const Ajv = (
    require('ajv-draft-04') as { default: new () => { validateSchema(s: object): unknown } }
  ).default;
  for (const schema of Object.values(plan.schemas)) {
    expect(new Ajv().validateSchema(schema as object)).toBe(true);
  }
});
