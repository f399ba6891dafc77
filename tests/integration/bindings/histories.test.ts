// Histories that nobody thought of happen to a real broker: its verbs, its passes and its database, by a clock that only
// they move. Thousands of the same kind happen to the decisions alone in src/domain/binding-histories.test.ts.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { histories } from '../../support/histories/history.ts';
import { runHistory } from '../../support/histories/run-history.ts';
import { BrokerWorld } from './broker-world.ts';
import { type HistoryGround, openHistoryGround } from './history-ground.ts';

/** Half a second each, and one on the embedded database; shrinking, where one fails, takes longer than all of them. */
const RUNS = { postgres: 30, embedded: 10 } as const;
const LONGEST = 15;

/** Shrinking ends then, with the shortest counterexample so far; what is right has passed long before. */
const INTERRUPT_AFTER_MS = 90_000;

vi.setConfig({ testTimeout: 120_000 });

describeOnEngines('whatever happens to the bindings of an instance', {}, (engine) => {
  let ground: HistoryGround;

  beforeAll(async () => {
    ground = await openHistoryGround(engine);
  });

  afterAll(() => ground.close());

  it('no promise is broken: the limit, the row of each object, nothing dead, the same for a repeat, a clean end', async () => {
    const happens = fc.asyncProperty(histories(LONGEST), async (acts) => {
      const world = new BrokerWorld(await ground.openPlot());
      try {
        await runHistory(world, acts);
      } finally {
        await world.close();
      }
    });
    const limits = {
      numRuns: RUNS[engine],
      interruptAfterTimeLimit: INTERRUPT_AFTER_MS,
      markInterruptAsFailure: true,
    };
    await expect(fc.assert(happens, limits)).resolves.toBeUndefined();
  });
});
