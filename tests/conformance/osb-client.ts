// The one way to the broker: each request of the suite goes through `call`, which holds the answer to the rules of all
// answers and, where the ledger can be seen, makes sure that a refusal has left it as it was.

import { AssertionError } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { faultsOf } from './answer-rules.ts';
import { type Exchange, exchange, type RawAnswer } from './exchange.ts';
import type { Ledger } from './ledger.ts';

export interface Call {
  /** GET where nothing is said. */
  readonly method?: string;
  /** As it stands in the request line, below the URL of the broker: `/v2/catalog`. */
  readonly path: string;
  /** An object is sent as JSON, a text and bytes as they are. */
  readonly body?: object | string | Buffer;
  /** On top of what a platform sends always; undefined leaves that out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface Answer extends RawAnswer {
  /** Empty where there was no body. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ClientOptions {
  /** Of the broker; what its path is goes before every path. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Undefined where it cannot be seen. */
  readonly ledger: Ledger | undefined;
}

export const VERSION = 'x-broker-api-version';
export const REQUEST_IDENTITY = 'x-broker-api-request-identity';

export class OsbClient {
  readonly #options: ClientOptions;
  readonly #origin: string;
  readonly #pathOfBroker: string;
  /** One at a time: what a second request changes must not be taken for what a refused one did. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ClientOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.url);
    this.#origin = origin;
    this.#pathOfBroker = pathname.replace(/\/$/, '');
  }

  /** The value of an Authorization header that is right. */
  get authorization(): string {
    const { username, password } = this.#options;
    return basic(`${username}:${password}`);
  }

  get username(): string {
    return this.#options.username;
  }

  get password(): string {
    return this.#options.password;
  }

  call(call: Call): Promise<Answer> {
    const answer = this.#last.then(() => this.#ask(call));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #ask(call: Call): Promise<Answer> {
    const method = call.method ?? 'GET';
    const target = this.#pathOfBroker + call.path;
    const headers = this.#headersOf(call);
    const body = call.body === undefined ? {} : { body: written(call.body) };
    const before = await this.#options.ledger?.dump();
    const answer = await exchange(this.#origin, { method, target, headers, ...body });
    const after = isRefusal(answer) ? await this.#options.ledger?.dump() : before;
    const about = `${method} ${shortened(target)} → ${answer.status} ${shortened(answer.text)}`;
    mustBe(this.#faultsOf(answer, { method, target, headers }), [], about);
    mustBe(after, before, `the ledger after ${about}`);
    const hasBody = answer.text !== '' && method !== 'HEAD';
    return { ...answer, body: hasBody ? (JSON.parse(answer.text) as Answer['body']) : {} };
  }

  #faultsOf(
    answer: RawAnswer,
    { method, target, headers }: Pick<Exchange, 'method' | 'target' | 'headers'>,
  ): readonly string[] {
    const identity = headers[REQUEST_IDENTITY];
    return faultsOf(answer, {
      method,
      target,
      requestIdentity: typeof identity === 'string' ? identity : undefined,
      secrets: [this.password, this.authorization.slice('Basic '.length)],
    });
  }

  #headersOf(call: Call): Readonly<Record<string, string | readonly string[]>> {
    const all: NonNullable<Call['headers']> = {
      authorization: this.authorization,
      [VERSION]: '2.17',
      [REQUEST_IDENTITY]: randomUUID(),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    };
    const given = Object.entries(all).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given) as Record<string, string | readonly string[]>;
  }
}

function isRefusal({ status }: RawAnswer): boolean {
  return status >= 400 && status < 500;
}

function mustBe(actual: unknown, expected: unknown, message: string): void {
  if (!isDeepStrictEqual(actual, expected)) throw new AssertionError({ message, actual, expected });
}

export function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function written(body: object | string | Buffer): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}

/** Some requests are a megabyte; the start of one tells which it was. */
function shortened(text: string): string {
  const limit = 300;
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
