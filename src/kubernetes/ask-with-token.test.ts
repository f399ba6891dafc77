import { setTimeout as sleepFor } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { type HttpsServer, json, startHttpsServer } from '../../tests/support/https-server.ts';
import { UpstreamError } from '../domain/errors.ts';
import { Secret } from '../domain/secret.ts';
import { askUntilRefused, StillHonouredError } from './ask-with-token.ts';
import { ClusterClient } from './cluster-client.ts';

interface Asked {
  readonly server: HttpsServer;
  readonly pausesMs: number[];
  readonly ask: (signal?: AbortSignal) => Promise<void>;
}

type Sleep = (delayMs: number, signal?: AbortSignal) => Promise<void>;

async function startAsking(doSleep: Sleep = () => Promise.resolve()): Promise<Asked> {
  const server = await startHttpsServer();
  const client = new ClusterClient({
    server: server.url,
    certificateAuthorityData: Buffer.from(server.authority.certPem).toString('base64'),
    credential: { kind: 'token', token: new Secret('admin') },
  });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  const pausesMs: number[] = [];
  const sleep: Sleep = (delayMs, signal) => {
    pausesMs.push(delayMs);
    return doSleep(delayMs, signal);
  };
  const token = new Secret('issued');
  return {
    server,
    pausesMs,
    ask: (signal) =>
      askUntilRefused({ client, ...(signal === undefined ? {} : { signal }) }, { token, sleep }),
  };
}

describe('asking with a revoked token', () => {
  it.each([401, 403])('ends at once with %i', async (status) => {
    const { server, pausesMs, ask } = await startAsking();
    server.answerWith(json(status, {}));
    await ask();
    expect(server.requests).toEqual(['GET /api/v1/namespaces/kube-system/secrets?limit=1']);
    expect(pausesMs).toEqual([]);
  });

  it('goes on while the token is honoured', async () => {
    const { server, pausesMs, ask } = await startAsking();
    server.answerWith((request, response) => {
      json(server.requests.length < 3 ? 200 : 403, {})(request, response);
    });
    await ask();
    expect(server.requests).toHaveLength(3);
    expect(pausesMs).toHaveLength(2);
  });

  it('gives up after 12 seconds, when it says so', async () => {
    const { server, pausesMs, ask } = await startAsking();
    server.answerWith(json(200, {}));
    const failure: unknown = await ask().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StillHonouredError);
    expect(failure).toMatchObject({ system: 'cluster', retryable: true });
    expect(pausesMs.reduce((sum, pauseMs) => sum + pauseMs)).toBe(12_000);
    expect(Math.max(...pausesMs)).toBe(1_000);
  });

  it('is not satisfied by a fault of the cluster, and not ended by it', async () => {
    const { server, ask } = await startAsking();
    server.answerWith((request, response) => {
      if (server.requests.length === 1) json(500, {})(request, response);
      else if (server.requests.length < 4) request.socket.destroy();
      else json(401, {})(request, response);
    });
    await ask();
    expect(server.requests).toHaveLength(4);
  });

  it('ends with the caller in a call', async () => {
    const { server, ask } = await startAsking();
    const abort = new AbortController();
    server.answerWith((request, response) => {
      abort.abort();
      json(200, {})(request, response);
    });
    await expect(ask(abort.signal)).rejects.toMatchObject({ reason: 'cancelled' });
  });

  it('ends with the caller in a pause, as a call would', async () => {
    const abort = new AbortController();
    const { server, ask } = await startAsking((delayMs, signal) => {
      const slept = sleepFor(delayMs, undefined, signal === undefined ? {} : { signal });
      abort.abort();
      return slept;
    });
    server.answerWith(json(200, {}));
    const failure: unknown = await ask(abort.signal).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ system: 'cluster', reason: 'cancelled', retryable: true });
    expect(server.requests).toHaveLength(1);
  });
});
