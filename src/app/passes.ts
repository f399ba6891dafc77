// What runs again and again while the broker serves, and how often.
import type { RepeatedPass } from '../background/repeat.ts';
import { wakeOperations } from '../background/wake-operations.ts';
import type { Broker } from '../broker/broker.ts';
import { beat } from '../storage/replicas.ts';

/** Others take over what a replica was doing once it has missed three of these (design 6). */
const BEAT_PAUSE_MS = 2_000;

/** The net under the jobs: what nobody was woken for is found within this. */
const WAKE_PAUSE_MS = 10_000;

/** That this replica lives: for as long as it issues, since others take over from one that does not. */
export function beatPass(broker: Broker): RepeatedPass {
  return {
    name: 'beat',
    pauseMs: BEAT_PAUSE_MS,
    run: () => beat(broker.db, { replicaId: broker.replicaId, at: broker.clock() }),
  };
}

/** What is begun no more once the broker is told to stop. */
export function backgroundPasses(broker: Broker): readonly RepeatedPass[] {
  return [
    {
      name: 'wake-operations',
      pauseMs: WAKE_PAUSE_MS,
      run: async () => {
        const { woken } = await wakeOperations(broker);
        if (woken > 0) {
          broker.log.info({ woken }, 'operations without a runner woken');
        }
      },
    },
  ];
}
