// `cleanup`: what the reconcilers do by themselves, once and now, by the same code: orders what has expired to end, ends
// what was ordered to end (what waits for its next try too), and with --orphans looks through every cluster for what has
// no row. Safe beside running replicas: grants and clusters are claimed by whoever works on them.
import { expireBindings } from '../../background/expire-bindings.ts';
import { finishRevocations } from '../../background/finish-revocations.ts';
import { removeOrphanGrants } from '../../background/remove-orphan-grants.ts';
import type { Broker } from '../../broker/broker.ts';
import type { CommandOutcome } from '../../http/operator/commands.ts';
import {
  countGrantsNotEnded,
  countGrantsToEnd,
  makeStuckGrantsDue,
} from '../../storage/retries.ts';
import { SealingError } from '../../storage/sealing.ts';
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts';
import { type BrokerCommand, parsed, type WorkParts } from './broker-command.ts';

export const CLEANUP: BrokerCommand = {
  name: 'cleanup',
  takes: '[--dry-run] [--orphans]',
  does: 'ends what has expired and what could not be revoked yet; with --orphans also what has no row',
  parse(args) {
    const { values } = parsed({
      args: [...args],
      options: { 'dry-run': { type: 'boolean' }, orphans: { type: 'boolean' } },
    });
    const { 'dry-run': isDryRun = false, orphans: scans = false } = values;
    return async (parts) => {
      const found = isDryRun ? await look(parts) : await end(parts);
      const orphans = scans ? await removeOrphans(parts, isDryRun) : NO_ORPHANS;
      return outcomeOf({ ...found, failed: found.failed + orphans.failed }, { orphans, isDryRun });
    };
  },
};

interface Figures {
  readonly expired: number;
  readonly revoked: number;
  readonly failed: number;
}

async function look({ broker }: WorkParts): Promise<Figures> {
  const { toOrder, ordered } = await countGrantsToEnd(broker.db, broker.clock());
  return { expired: toOrder, revoked: toOrder + ordered, failed: 0 };
}

async function end({ broker, signal, tell }: WorkParts): Promise<Figures> {
  const { expired } = await expireBindings(broker);
  tell(`${expired} grants have expired, or died while they were issued, and are ordered to end.`);
  const orderedBy = broker.clock();
  await makeAllDue(broker, orderedBy);
  const { revoked } = await finishRevocations(broker, { signal });
  tell(`${revoked} grants are revoked.`);
  const failed = await countGrantsNotEnded(broker.db, { orderedBy, now: broker.clock() });
  return { expired, revoked, failed };
}

/** A statement that marks so many takes some tens of milliseconds, and no writer waits longer for a row of it. */
const BATCH = 500;

async function makeAllDue({ db }: Broker, now: Date): Promise<void> {
  while ((await makeStuckGrantsDue(db, { now, limit: BATCH })) === BATCH);
}

interface Orphans {
  readonly orphans: number;
  readonly failed: number;
  readonly complaints: readonly string[];
}

const NO_ORPHANS: Orphans = { orphans: 0, failed: 0, complaints: [] };

async function removeOrphans(
  { broker, signal, tell }: WorkParts,
  isDryRun: boolean,
): Promise<Orphans> {
  try {
    const options = { signal, isDryRun, everyCluster: true };
    const report = await removeOrphanGrants(broker, options);
    tell(`${report.scanned} clusters are looked through, ${report.orphans} orphans found.`);
    if (report.reopened > 0 && !isDryRun) {
      await finishRevocations(broker, { signal });
    }
    const { orphans, failed, heldBack } = report;
    const complaints = heldBack === 0 ? [] : [`${heldBack} ${HELD_BACK}`];
    return { orphans, failed, complaints };
  } catch (error) {
    if (error instanceof SealingError) {
      return { orphans: 0, failed: 1, complaints: [KEY_LOST] };
    }
    throw error;
  }
}

const HELD_BACK =
  'objects without a row stay, since an older database seems to have been restored: /readyz says where, and confirm-restore lets them go.';

const KEY_LOST =
  'Orphans cannot be told from what is not ours: the key of our marks does not open under the sealing keys given.';

function outcomeOf(
  { expired, revoked, failed }: Figures,
  { orphans, isDryRun }: { readonly orphans: Orphans; readonly isDryRun: boolean },
): CommandOutcome {
  const line = { expired, revoked, orphans: orphans.orphans, failed, dryRun: isDryRun };
  return {
    exitStatus: failed > 0 ? EXIT_FAILED : EXIT_DONE,
    output: [JSON.stringify(line)],
    complaints: orphans.complaints,
  };
}
