// How `npm test` runs: unit tests, tests on real parts and the black-box suite side by side, then the search of
// everything that they wrote for secrets. What each real part is and where it is found is told by tests/support/global-setup.ts.

import { defineConfig } from 'vitest/config';

import { ClosingLine } from './tests/support/closing-line.ts';

/** A cluster call has limits of its own, well below; a test that needs longer is stuck. */
const TEST_TIMEOUT_MS = 30_000;

/** Hooks start API servers and databases, on machines that are busy with the other half of the suite. */
const HOOK_TIMEOUT_MS = 120_000;

/** All projects on real parts name it, and it starts them once for the run; unit tests alone start none. */
const globalSetup = './tests/support/global-setup.ts';

/** A broker that is named brings what it needs: the black-box suite then starts nothing. */
const namesBroker = (process.env['OSB_URL'] ?? '') !== '';

/**
 * What makes faults happen by the hundred takes minutes: each step of an act, rounds of races, a holder who resists
 * twenty times, a demo that is killed at twelve moments, processes that are started and stopped again and again. CI runs
 * it, and whoever changes what it is about.
 */
const LONG_FAULTS = [
  'tests/faults/matrix/{crash,cluster}.test.ts',
  'tests/faults/bindings/{races,frozen-replica,limits-of-time}.test.ts',
  'tests/faults/embedded/{data-folder,sandbox}.test.ts',
  'tests/faults/process/{commands,cleanup,shutdown}.test.ts',
  'tests/integration/reconcilers/{finish,orphans-in-the-way}.test.ts',
  'tests/cluster/hostile-holder.test.ts',
  'tests/e2e/demo-killed.test.ts',
];
const includesLongFaults = process.env['FAULT_MATRIX'] === '1';

const limits = { testTimeout: TEST_TIMEOUT_MS, hookTimeout: HOOK_TIMEOUT_MS };

export default defineConfig({
  test: {
    pool: 'forks',
    // Files beside each other: each brings a broker, a database and a cluster to a machine with, often, two cores.
    maxWorkers: 2,
    reporters: ['default', new ClosingLine()],
    projects: [
      {
        test: {
          ...limits,
          name: 'unit',
          include: ['src/**/*.test.ts', 'tests/{house,support}/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...limits,
          name: 'real',
          globalSetup,
          include: ['tests/{integration,cluster,faults,e2e}/**/*.test.ts'],
          exclude: includesLongFaults ? [] : LONG_FAULTS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...limits,
          name: 'conformance',
          globalSetup: namesBroker ? [] : globalSetup,
          include: ['tests/conformance/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...limits,
          name: 'leaks',
          globalSetup,
          include: ['tests/leaks/**/*.test.ts'],
          // After all others: it reads what they left in logs, answers and databases.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
