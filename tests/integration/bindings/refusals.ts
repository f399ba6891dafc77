// What every refusal of the broker has to be, whatever it refuses: of the form of OSB, silent about the inside, and
// without a trace in the ledger (C26, C30, C31).

import { expect } from 'vitest';
import { aroundLedger } from '../../support/ledger-dump.ts';
import type { OsbAnswer } from '../../support/platform.ts';
import type { Scene } from './scene.ts';

/** Hosts, systems and errors that a platform's user must not be shown. */
const OF_THE_INSIDE =
  /127\.0\.0\.1|localhost|https?:|words-of-the-cluster|ECONN|select |insert |eyJ|\.ts\b|kyma-binding-|SealingError|postgres/i;

/**
 * The answer to a request that is refused with a 4xx: its form is checked, and that the ledger is as it was. Not for
 * tests in which something else is at work on the ledger: the scene is opened without reconcilers.
 */
export async function refusal(
  scene: Pick<Scene, 'ledger'>,
  ask: () => Promise<OsbAnswer<unknown>>,
): Promise<OsbAnswer> {
  const { answer, before, after } = await aroundLedger(scene.ledger, ask);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(after).toEqual(before);
  expectErrorBody(answer);
  return answer as OsbAnswer;
}

/** For 4xx and 5xx alike. */
export function expectErrorBody({ status, headers, body }: OsbAnswer<unknown>): void {
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  const { error = 'None', description = 'None', ...rest } = body as Record<string, unknown>;
  expect(rest).toEqual({});
  expect(error).toMatch(/^[A-Z][A-Za-z]+$/);
  expect(description).toMatch(/\S/);
  expect(description).not.toMatch(OF_THE_INSIDE);
  if (status === 422) expect(error).not.toBe('None');
  if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/);
}
