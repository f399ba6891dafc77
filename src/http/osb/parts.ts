// What the endpoints of OSB are made of; built by the composition.
import type { Broker } from '../../broker/broker.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { TypedScope } from '../typed-scope.ts';

export interface OsbParts {
  readonly broker: Broker;
  readonly authenticator: Authenticator;
  readonly log: Logger;
  /** Region of platforms whose URL names none. */
  readonly defaultRegion: string;
}

/** One mount of the OSB routes. */
export type OsbScope = TypedScope;
