// The decisions about bindings, over histories that nobody thought of: thousands of them, computed. The same histories
// happen to a real broker in tests/integration/bindings/histories.test.ts.
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { histories } from '../../tests/support/histories/history.ts';
import { ModelledBroker } from '../../tests/support/histories/modelled-broker.ts';
import { runHistory } from '../../tests/support/histories/run-history.ts';

/** Some two seconds; longer histories find no more, since what meets in them is of the last few acts. */
const RUNS = 3_000;
const LONGEST = 25;

describe('whatever happens to the bindings of an instance', () => {
  it('no promise is broken: the limit, the row of each object, nothing dead, the same for a repeat, a clean end', async () => {
    await fc.assert(
      fc.asyncProperty(histories(LONGEST), (acts) => runHistory(new ModelledBroker(), acts)),
      { numRuns: RUNS },
    );
  });
});
