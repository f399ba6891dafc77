// The public server over a broker that must not be reached: whatever a test sends it has to be refused before. Only the
// catalog is there. Real otherwise: router, hooks, parsers and schemas are those of production.

import type { FastifyInstance, InjectOptions } from 'fastify';
import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';

import type { Broker } from '../../src/broker/broker.ts';
import { BUILT_IN_PLANS } from '../../src/domain/built-in-plans.ts';
import { Secret } from '../../src/domain/secret.ts';
import { basicAuthenticator } from '../../src/http/auth/basic.ts';
import { createPublicServer, type PublicServerParts } from '../../src/http/server.ts';
import { createLogger } from '../../src/observability/logger.ts';

export interface RefusingServer {
  readonly server: FastifyInstance;
  /** Lines so far, parsed. */
  readonly log: () => readonly Readonly<Record<string, unknown>>[];
}

export const CREDENTIALS = `Basic ${Buffer.from('platform:p:w€').toString('base64')}`;

/** What every good request of a platform has. */
export const PLATFORM_HEADERS = {
  authorization: CREDENTIALS,
  'x-broker-api-version': '2.17',
} as const;

export function refusingServer(parts: Partial<PublicServerParts> = {}): RefusingServer {
  const lines: string[] = [];
  const server = createPublicServer({
    broker: unreachedBroker(),
    authenticator: basicAuthenticator('platform', new Secret('p:w€')),
    log: createLogger(
      { level: 'info', format: 'json' },
      { write: (line) => void lines.push(line) },
    ),
    defaultRegion: 'cf-eu10',
    isServing: () => true,
    ...parts,
  });
  return { server, log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** Sends one request with the headers of a good one, unless told otherwise. */
export function send(server: FastifyInstance, options: InjectOptions) {
  return server.inject({ ...options, headers: { ...PLATFORM_HEADERS, ...options.headers } });
}

/** Whatever asks it for more than what is on offer has got too far. */
export function unreachedBroker(): Broker {
  const reached: Readonly<Record<string | symbol, unknown>> = {
    provisioners: { offered: () => BUILT_IN_PLANS },
    db: databaseThatOnlyAnswers(),
  };
  return new Proxy(reached, {
    get(target, name) {
      if (Object.hasOwn(target, name)) {
        return target[name];
      }
      throw new Error(`the broker was reached: ${String(name)}`);
    },
  }) as unknown as Broker;
}

/** It is there, and knows nothing: whoever asks for more than that has reached the broker. */
class DriverThatOnlyAnswers extends DummyDriver {
  override acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve({
      executeQuery(query) {
        if (query.sql === 'select 1') return Promise.resolve({ rows: [] });
        throw new Error('the broker was reached: db');
      },
      streamQuery() {
        throw new Error('the broker was reached: db');
      },
    });
  }
}

function databaseThatOnlyAnswers(): Kysely<unknown> {
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DriverThatOnlyAnswers(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** How a request ends that was refused by nothing: the verb runs, and finds no broker behind it. */
export function reachedTheBroker({ log }: RefusingServer): boolean {
  const error = log().at(-2)?.['err'] as { readonly message?: string } | undefined;
  return error?.message?.startsWith('the broker was reached') === true;
}
