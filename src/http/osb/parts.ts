// What the endpoints of OSB are made of; built by the composition.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';

import type { Broker } from '../../broker/broker.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Authenticator } from '../auth/authenticator.ts';

export interface OsbParts {
  readonly broker: Broker;
  readonly authenticator: Authenticator;
  readonly log: Logger;
  /** Region of platforms whose URL names none. */
  readonly defaultRegion: string;
}

/** One mount of the OSB routes; what a route's schema says is what its handler gets. */
export type OsbScope = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
