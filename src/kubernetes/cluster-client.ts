// A keep-alive client of one cluster: every call is limited in time and size, every answer is checked before it is
// parsed, every failure is an UpstreamError. What is called, and what a failure means, is left to those who call.

import { createSecureContext, type SecureContext } from 'node:tls';
import { Client, type Dispatcher, Pool } from 'undici';

import type { Secret } from '../domain/secret.ts';
import type { AddressGuard } from './address-guard.ts';
import { CallLimit } from './call-limit.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type KubernetesObject, readAnswer } from './cluster-answer.ts';
import { failureOfThrown, isStaleConnection } from './failures.ts';

export interface ClusterLimits {
  /** TCP and TLS. */
  readonly connectMs: number;
  /** From the request to the answer's headers. */
  readonly headersMs: number;
  /** Between two pieces of the answer's body. */
  readonly bodyMs: number;
  /** The whole call, waiting for a free connection included. */
  readonly totalMs: number;
  readonly answerBytes: number;
  /** Open at a time; further calls wait for one. */
  readonly connections: number;
}

const DEFAULT_LIMITS: ClusterLimits = {
  // A handshake is three round trips: five seconds allow for one lost packet twice over.
  connectMs: 5_000,
  headersMs: 10_000,
  bodyMs: 10_000,
  // Below the create limit of 15 s, so that a silent cluster is named as the cause.
  totalMs: 12_000,
  // etcd takes objects of up to 1.5 MiB; lists are read in pages.
  answerBytes: 8 * 1024 * 1024,
  // A bind has three calls in flight: ten binds at once without waiting, on a cluster that allows ten live bindings.
  connections: 32,
};

/** The API server closes idle connections after 90 s, load balancers on the way commonly after 60 s: be first. */
const KEEP_ALIVE_MS = 55_000;

export interface ClusterCall {
  /** A PATCH or DELETE must be harmless when it is sent twice: it names a uid, or says the whole of what is to be. */
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the server's own path, query included: `/api/v1/namespaces/kube-system`. */
  readonly path: string;
  /** Sent as JSON; with PATCH as a JSON merge patch. */
  readonly body?: unknown;
  /** Verb and resource, for errors: `create serviceaccounts`. */
  readonly action: string;
  /** The kinds that the answer may be of; any other is a `malformed-answer`. */
  readonly expect: readonly string[];
  /** Media types of JSON, the preferred one first; plain JSON unless said. */
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface ClusterClientOptions {
  readonly limits?: Partial<ClusterLimits>;
  /** Where the address comes from a caller: asked before every connection. */
  readonly guard?: AddressGuard | undefined;
}

export class ClusterClient {
  readonly access: ClusterAccess;
  readonly #limits: ClusterLimits;
  readonly #origin: string;
  readonly #pathPrefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #secureContext: SecureContext;
  readonly #guard: AddressGuard | undefined;
  readonly #pool: Pool;
  #anonymousPool: Pool | undefined;
  #connectionsOpened = 0;
  /** Of the first pool, and undefined where the connection that was opened last is one of the other. */
  #newest: Client | undefined;
  #closed: Promise<unknown> | undefined;

  /** Opens no connection yet. Throws an UpstreamError where TLS cannot be set up from the access. */
  constructor(access: ClusterAccess, { limits, guard }: ClusterClientOptions = {}) {
    this.access = access;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#guard = guard;
    const url = new URL(access.server);
    this.#origin = url.origin;
    this.#pathPrefix = url.pathname.replace(/\/+$/, '');
    const { credential } = access;
    this.#headers = credential.kind === 'token' ? bearer(credential.token) : {};
    this.#secureContext = secureContextOf(access);
    this.#pool = this.#openPool(this.#secureContext, (connection) => {
      this.#newest = connection;
    });
  }

  /** How many so far, with and without our credential; each may lead to another server than those before it. */
  get connectionsOpened(): number {
    return this.#connectionsOpened;
  }

  /** Whether a connection with our credential is open; where none is, the next call opens one. */
  get isConnected(): boolean {
    return this.#pool.stats.connected > 0;
  }

  /**
   * Sends the call and reads the object that answers it. A GET, PATCH or DELETE is sent a second time where it met a
   * connection that the server had closed meanwhile; a POST never is.
   */
  async request<T extends KubernetesObject>(call: ClusterCall): Promise<T> {
    return this.#limited(call, async (signal) => {
      const answer = await this.#send(this.#pool, call, { headers: this.#headers, signal });
      return readAnswer<T>(call, answer);
    });
  }

  /** As request(), over a connection that no other one was opened after: the last one, or one of its own. */
  async requestOverNewest<T extends KubernetesObject>(call: ClusterCall): Promise<T> {
    return this.#limited(call, async (signal) => {
      const { dispatcher, release } = this.#takeNewest();
      try {
        const answer = await this.#send(dispatcher, call, { headers: this.#headers, signal });
        return await readAnswer<T>(call, answer);
      } finally {
        release();
      }
    });
  }

  /** The status of a GET that is sent with another token and none of our own credentials; the body is not read. */
  async statusWith(
    token: Secret,
    call: Omit<ClusterCall, 'body' | 'expect' | 'method'>,
  ): Promise<number> {
    return this.#limited(call, async (signal) => {
      const get = { ...call, method: 'GET', expect: [] } as const;
      const answer = await this.#send(this.#poolWithoutCredential(), get, {
        headers: bearer(token),
        signal,
      });
      await answer.body.dump();
      return answer.statusCode;
    });
  }

  /** Calls in flight end as they would have; later ones fail as `cancelled`. A repeat waits for the same. */
  async close(): Promise<void> {
    this.#closed ??= Promise.all([this.#pool.close(), this.#anonymousPool?.close()]);
    await this.#closed;
  }

  async #limited<R>(
    call: { readonly action: string; readonly signal?: AbortSignal | undefined },
    exchange: (signal: AbortSignal) => Promise<R>,
  ): Promise<R> {
    const limit = new CallLimit(this.#limits.totalMs, call.signal);
    try {
      // A literal is connected to without a lookup.
      await this.#guard?.demandAllowed(this.access.server);
      return await exchange(limit.signal);
    } catch (thrown) {
      throw failureOfThrown(call.action, thrown, limit.endedBy);
    } finally {
      limit.release();
    }
  }

  async #send(
    dispatcher: Dispatcher,
    call: ClusterCall,
    { headers, signal }: { headers: Readonly<Record<string, string>>; signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    const { method, accept = 'application/json' } = call;
    const request = {
      method,
      path: this.#pathPrefix + call.path,
      headers: {
        ...headers,
        accept,
        'user-agent': 'runtime-broker',
        ...(call.body === undefined ? {} : { 'content-type': CONTENT_TYPES[method] }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      // undici would close the connection behind a DELETE that has a body, which API servers read as any other.
      reset: false,
      signal,
    };
    try {
      return await dispatcher.request(request);
    } catch (thrown) {
      if (method === 'POST' || signal.aborted || !isStaleConnection(thrown)) throw thrown;
      return dispatcher.request(request);
    }
  }

  #takeNewest(): { dispatcher: Dispatcher; release: () => void } {
    const newest = this.#newest;
    const isFree = newest !== undefined && !newest.closed && newest.stats.size === 0;
    if (!this.isConnected || this.#closed !== undefined || isFree) {
      return { dispatcher: isFree ? newest : this.#pool, release: () => undefined };
    }
    // Behind somebody else's call, this one would wait for as long as that one hangs.
    const own = new Client(this.#origin, this.#connectionOptions(this.#secureContext));
    return { dispatcher: own, release: () => void own.close() };
  }

  #poolWithoutCredential(): Pool {
    // A bearer token lies in the headers of each request; a client certificate would speak for the whole connection.
    if (this.access.credential.kind === 'token' || this.#closed !== undefined) return this.#pool;
    this.#anonymousPool ??= this.#openPool(
      secureContextOf(this.access, { anonymous: true }),
      () => {
        this.#newest = undefined;
      },
    );
    return this.#anonymousPool;
  }

  #openPool(secureContext: SecureContext, noteNewest: (connection?: Client) => void): Pool {
    const { connections } = this.#limits;
    const pool = new Pool(this.#origin, {
      connections,
      ...this.#connectionOptions(secureContext),
    });
    pool.on('connect', (_, targets) => {
      this.#connectionsOpened += 1;
      const opened = targets.at(-1);
      noteNewest(opened instanceof Client ? opened : undefined);
    });
    return pool;
  }

  #connectionOptions(secureContext: SecureContext): Client.Options {
    const { connectMs, headersMs, bodyMs, answerBytes } = this.#limits;
    const { tlsServerName } = this.access;
    return {
      // HTTP/2 would put all calls on one connection, and measures slower.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      bodyTimeout: bodyMs,
      maxResponseSize: answerBytes,
      connect: {
        timeout: connectMs,
        secureContext,
        // Said, so that NODE_TLS_REJECT_UNAUTHORIZED cannot unsay it.
        rejectUnauthorized: true,
        ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
        ...(this.#guard === undefined ? {} : { lookup: this.#guard.lookupFor(this.access.server) }),
      },
    };
  }
}

const CONTENT_TYPES = {
  GET: 'application/json',
  POST: 'application/json',
  PATCH: 'application/merge-patch+json',
  DELETE: 'application/json',
} as const;

function bearer(token: Secret): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token.reveal()}` };
}

/** Made once a pool: it parses the certificates, which a handshake would otherwise do anew each time. */
function secureContextOf(access: ClusterAccess, { anonymous = false } = {}): SecureContext {
  const { certificateAuthorityData, credential } = access;
  try {
    return createSecureContext({
      ...(certificateAuthorityData === undefined
        ? {}
        : { ca: fromBase64(certificateAuthorityData) }),
      ...(credential.kind === 'token' || anonymous
        ? {}
        : {
            cert: fromBase64(credential.certificateData),
            key: fromBase64(credential.keyData.reveal()),
          }),
    });
  } catch (thrown) {
    throw failureOfThrown('open cluster access', thrown, undefined);
  }
}

function fromBase64(data: string): string {
  return Buffer.from(data, 'base64').toString('utf8');
}
