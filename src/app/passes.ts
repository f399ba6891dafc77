// What runs again and again while the broker serves, and how often.
import { Bell } from '../background/bell.ts';
import { expireBindings, untilNextExpiryMs } from '../background/expire-bindings.ts';
import { circuitsOf, finishRevocations, untilNextTryMs } from '../background/finish-revocations.ts';
import { pruneHistory } from '../background/prune-history.ts';
import { removeOrphanGrants } from '../background/remove-orphan-grants.ts';
import type { RepeatedPass } from '../background/repeat.ts';
import { wakeOperations } from '../background/wake-operations.ts';
import type { Broker } from '../broker/broker.ts';
import { beat } from '../storage/replicas.ts';

/** Others take over what a replica was doing once it has missed three of these (REPLICA_LOST_AFTER_MS). */
const BEAT_PAUSE_MS = 2_000;

/** The net under the jobs: what nobody was woken for is found within this. */
const WAKE_PAUSE_MS = 10_000;

/** How late a cluster's turn may begin; most looks find that nobody's turn it is, in one question by index. */
const ORPHANS_PAUSE_MS = 60_000;

/** What is kept for a day may stay for some minutes more. */
const PRUNE_PAUSE_MS = 10 * 60_000;

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
    ...revocationPasses(broker),
    orphanPass(broker),
    prunePass(broker),
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

function orphanPass(broker: Broker): RepeatedPass {
  return {
    name: 'remove-orphan-grants',
    pauseMs: ORPHANS_PAUSE_MS,
    run: async (signal) => {
      const report = await removeOrphanGrants(broker, { signal });
      if (report.scanned + report.failed > 0) {
        broker.log.info(report, 'clusters scanned for orphans');
      }
    },
  };
}

function prunePass(broker: Broker): RepeatedPass {
  return {
    name: 'prune-history',
    pauseMs: PRUNE_PAUSE_MS,
    run: async () => {
      const report = await pruneHistory(broker);
      if (Object.values(report).some((count) => count > 0)) {
        broker.log.info(report, 'history pruned');
      }
    },
  };
}

/** What has expired is told at once to the pass that ends it. */
function revocationPasses(broker: Broker): readonly RepeatedPass[] {
  const bell = new Bell();
  const circuits = circuitsOf(broker);
  return [
    {
      name: 'expire-bindings',
      pauseMs: () => untilNextExpiryMs(broker),
      run: async () => {
        const { expired } = await expireBindings(broker);
        if (expired > 0) {
          broker.log.info({ expired }, 'expired and dead grants ordered to end');
          bell.ring();
        }
      },
    },
    {
      name: 'finish-revocations',
      pauseMs: () => untilNextTryMs(broker, circuits),
      bell,
      run: async (signal) => {
        const report = await finishRevocations(broker, { signal, circuits, bell });
        if (report.revoked + report.failed + report.lookedAgain > 0) {
          broker.log.info(report, 'revocations finished');
        }
      },
    },
  ];
}
