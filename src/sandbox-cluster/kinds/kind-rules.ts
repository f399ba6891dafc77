// What may be special to a kind when its objects are written: defaults, validation, what keeps an object.

import type { KubeObject } from '../api/kube-object.ts';
import type { FieldCause } from '../api/status.ts';

export interface KindRules {
  /** At creation and at each change: what was left out, in the form in which it is kept. */
  readonly complete?: (object: KubeObject) => KubeObject;
  /** At creation only, after `complete`. */
  readonly begin?: (object: KubeObject) => KubeObject;
  readonly faults?: (object: KubeObject, old: KubeObject | undefined) => readonly FieldCause[];
  /** Why an object of that name may not be deleted. */
  readonly keptBecause?: (name: string) => string | undefined;
  /** Whether something besides its metadata's finalizers keeps it. */
  readonly isHeld?: (object: KubeObject) => boolean;
  /** As it is while it is being deleted. */
  readonly whileDeleted?: (object: KubeObject) => KubeObject;
}
