// Where signals about grants are heard: on PostgreSQL over a connection that does nothing else, on the embedded database
// by its one session. When to listen again is left to grant-signals.ts.
import pg from 'pg';
import type { Secret } from '../domain/secret.ts';
import type { EmbeddedDatabase } from './embedded.ts';
import { databaseFailure } from './failures.ts';
import type { SignalSource } from './grant-signals.ts';

/** Shorter than what firewalls commonly allow a silent connection; also how one that has died silently is found. */
const KEEP_ALIVE_MS = 30_000;

/** Nobody waits for it: without it, waits look by themselves. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Outside of the pool, since a connection that listens must not be lent to anybody. */
export function postgresSignals(url: Secret): SignalSource {
  return {
    async listen(channel, heard) {
      const client = new pg.Client({
        connectionString: url.reveal(),
        application_name: 'runtime-broker signals',
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        query_timeout: CONNECT_TIMEOUT_MS,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      });
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      // Both may come, in either order; without a listener an error would end the process.
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      client.on('notification', ({ payload = '' }) => heard(payload));
      // Of a connection that was lost, its end may never be told.
      const close = () => Promise.race([client.end().catch(() => undefined), ended]);
      try {
        await client.connect();
        await client.query(`listen ${channel}`);
      } catch (error) {
        // Not awaited: a server that did not answer may not answer to this either.
        void close();
        throw databaseFailure(error, 'open connection');
      }
      return { ended, close };
    },
  };
}

export function embeddedSignals({ session }: EmbeddedDatabase): SignalSource {
  return {
    async listen(channel, heard) {
      await session.listen(channel, heard);
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      return {
        ended,
        // The session ends with the database, and its ears with it.
        close: () => {
          resolve();
          return Promise.resolve();
        },
      };
    },
  };
}
