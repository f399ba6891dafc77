// `confirm-restore`: an older database was put back, and what it does not know on the cluster of an instance may be
// removed (docs/decisions/a-restored-database-is-confirmed.md). The sweep for orphans does it, or `cleanup --orphans`
// at once.
import { confirmRestore } from '../../broker/confirm-restore.ts';
import { BrokerError } from '../../domain/errors.ts';
import { osbIdFault } from '../../domain/osb-id.ts';
import { reasonFault } from '../../domain/reason.ts';
import type { CommandOutcome } from '../../http/operator/commands.ts';
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts';
import { type BrokerCommand, parsed, UsageError } from './broker-command.ts';

export const CONFIRM_RESTORE: BrokerCommand = {
  name: 'confirm-restore',
  takes: 'INSTANCE --reason TEXT',
  does: 'lets what a restored database does not know be removed from the cluster of an instance',
  parse(args) {
    const { values, positionals } = parsed({
      args: [...args],
      options: { reason: { type: 'string' } },
      allowPositionals: true,
    });
    const [instanceId, ...others] = positionals;
    if (instanceId === undefined || others.length > 0) {
      throw new UsageError('"confirm-restore" takes the id of one instance.');
    }
    demand('INSTANCE', osbIdFault(instanceId));
    const { reason = '' } = values;
    demand('--reason', reasonFault(reason));
    return async ({ broker, actor }) => {
      try {
        const { confirmed } = await confirmRestore(broker, { instanceId, actor, reason });
        return outcome(EXIT_DONE, confirmed ? CONFIRMED : NOTHING_SUSPECTED);
      } catch (error) {
        if (error instanceof BrokerError) {
          return { exitStatus: EXIT_FAILED, output: [], complaints: [error.message] };
        }
        throw error;
      }
    };
  },
};

const CONFIRMED =
  'Confirmed. What the database does not know is removed by the next sweep for orphans, or by cleanup --orphans.';

const NOTHING_SUSPECTED = 'Nothing to confirm: no restore is suspected for the cluster.';

function outcome(exitStatus: number, sentence: string): CommandOutcome {
  return { exitStatus, output: [sentence], complaints: [] };
}

function demand(what: string, fault: string | undefined): void {
  if (fault !== undefined) {
    throw new UsageError(`${what} ${fault}.`);
  }
}
