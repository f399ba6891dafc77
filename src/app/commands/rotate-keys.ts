// `rotate-keys`: seals everything anew under the first of the sealing keys, while replicas serve. Afterwards the other
// keys can be taken out of the settings.
import { type RotationReport, rotateKeys } from '../../broker/rotate-keys.ts';
import type { CommandOutcome } from '../../http/operator/commands.ts';
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts';
import { type BrokerCommand, parsed } from './broker-command.ts';

export const ROTATE_KEYS: BrokerCommand = {
  name: 'rotate-keys',
  takes: '',
  does: 'seals everything anew under the first of the sealing keys',
  parse(args) {
    parsed({ args: [...args] });
    return async ({ broker, signal }) => outcomeOf(await rotateKeys(broker, { signal }));
  },
};

/** Named one by one; of more than these the number alone is told. */
const NAMED_VALUES = 100;

function outcomeOf({ resealed, current, unopenable, isComplete }: RotationReport): CommandOutcome {
  const named = unopenable
    .slice(0, NAMED_VALUES)
    .map(
      ({ table, column, row }) =>
        `${table}.${column} of ${row} does not open under any of the sealing keys.`,
    );
  const others = unopenable.length - named.length;
  const more = others > 0 ? [`${others} more do not open either.`] : [];
  const stopped = isComplete ? [] : ['Stopped before the end; a second run goes on.'];
  return {
    exitStatus: unopenable.length > 0 || !isComplete ? EXIT_FAILED : EXIT_DONE,
    output: [JSON.stringify({ resealed, current, unopenable: unopenable.length })],
    complaints: [...named, ...more, ...stopped],
  };
}
