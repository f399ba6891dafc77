// What the endpoints of operators are made of; built by the composition.
import type { Broker } from '../../broker/broker.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { IsServing } from '../gate.ts';

/** What runs here. */
export interface Versions {
  /** Of this package. */
  readonly version: string;
  /** Of Node, without its `v`. */
  readonly node: string;
}

export interface OperatorParts {
  readonly authenticator: Authenticator;
  readonly broker: Broker;
  readonly isServing: IsServing;
  readonly log: Logger;
  readonly versions: Versions;
}
