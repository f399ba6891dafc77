// Pods: nothing runs them here, so they wait for ever to be placed on a node.

import { mapAt, mapsAt, textAt } from '../api/kube-object.ts';
import { requiredValue } from '../api/status.ts';
import type { KindRules } from './kind-rules.ts';

export const POD_RULES: KindRules = {
  begin: (object) => ({ ...object, status: { phase: 'Pending', qosClass: 'BestEffort' } }),
  faults(object) {
    const containers = mapsAt(mapAt(object, 'spec'), 'containers');
    if (containers.length === 0) return [requiredValue('spec.containers')];
    return containers.flatMap((container, index) =>
      ['name', 'image']
        .filter((field) => textAt(container, field) === undefined)
        .map((field) => requiredValue(`spec.containers[${index}].${field}`)),
    );
  },
};
