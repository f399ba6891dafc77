// Conditions that tests of instances wait for, over the API that a platform has.

import type { Ids, Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';

/**
 * A handful of calls to a local API server, or one that hangs until it is given up after ten seconds; a machine that
 * runs the other half of the suite takes several times that.
 */
const OPERATION_LIMIT_MS = 45_000;

/** For tests that wait for what takes its ten seconds by itself: a silent cluster, a lost replica, a lost job. */
export const PATIENT_TEST_MS = 90_000;

/** Waits until the operation (the latest one, unless another is named) has ended. @returns its final state */
export async function operationEnded(
  platform: Platform,
  ids: Ids,
  operation?: string,
): Promise<unknown> {
  return (await endOfOperation(platform, ids, operation)).state;
}

export interface EndOfOperation {
  readonly state: unknown;
  readonly description: unknown;
}

/** As operationEnded, with the sentence for the platform's user. */
export async function endOfOperation(
  platform: Platform,
  ids: Ids,
  operation?: string,
): Promise<EndOfOperation> {
  let body: Readonly<Record<string, unknown>> = {};
  await until({
    what: `the operation of ${ids.instance} has ended`,
    limitMs: OPERATION_LIMIT_MS,
    isSo: async () => {
      ({ body } = await platform.lastOperation(ids, operation));
      return body['state'] === 'succeeded' || body['state'] === 'failed';
    },
  });
  return { state: body['state'], description: body['description'] };
}
