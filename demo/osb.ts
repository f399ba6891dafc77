// Speaks to the broker as a platform does: OSB over HTTP. Each answer comes with the line that tells of it.

import { setTimeout as pause } from 'node:timers/promises';
import type { Credentials } from './data-folder.ts';
import { DemoFailure } from './demo-failure.ts';

/** `kymaruntime`, the one offering. */
const SERVICE_ID = '47c9dcbf-ff30-448e-ab36-d3bad66ba281';

/** What is asked for. The ids of plans never change (docs/api.md). */
export interface Wish {
  readonly instance: string;
  readonly planId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A cluster that the broker makes. */
export const SANDBOX_PLAN_ID = '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11';

/** An existing cluster, attached by its kubeconfig. */
export const OWN_CLUSTER_PLAN_ID = '03e3cb66-a4c6-4c6a-b4b0-5d42224debea';

export const API_VERSION = '2.17';

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  /** `PUT /v2/service_instances/story → 202` */
  readonly line: string;
}

export interface BindingBody {
  readonly credentials: {
    readonly kubeconfig: string;
    readonly server: string;
    readonly certificate_authority_data?: string;
    readonly token: string;
  };
  readonly metadata: { readonly expires_at: string };
}

/** A 4xx: the request has changed nothing. */
export class Refused extends DemoFailure {
  readonly status: number;

  constructor(message: string, hints: readonly string[], status: number) {
    super(message, hints);
    this.status = status;
  }
}

interface ErrorBody {
  readonly error?: string;
  readonly description?: string;
}

interface LastOperation {
  readonly state: 'in progress' | 'succeeded' | 'failed';
  readonly description?: string;
}

export interface OsbOptions {
  readonly url: string;
  readonly credentials: Credentials;
  readonly wish: Wish;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** A bind is answered within 20 s, at the latest. */
const ANSWER_LIMIT_MS = 30_000;

/** For a person who waits; platforms ask every few seconds. */
const POLL_EVERY_MS = 50;

export class Osb {
  readonly #options: OsbOptions;

  constructor(options: OsbOptions) {
    this.#options = options;
  }

  /** The same broker, for what another signal ends. */
  until(signal: AbortSignal): Osb {
    return new Osb({ ...this.#options, signal });
  }

  /** 200 where it is there already, 202 where it is made now. */
  provision(): Promise<Answer<unknown>> {
    const { planId, parameters } = this.#options.wish;
    return this.#call('PUT', `${this.#path()}?accepts_incomplete=true`, {
      expect: [200, 202],
      body: {
        service_id: SERVICE_ID,
        plan_id: planId,
        organization_guid: 'demo',
        space_guid: 'demo',
        parameters,
      },
    });
  }

  /** 410 means that there is none. */
  deprovision(): Promise<Answer<unknown>> {
    return this.#call('DELETE', `${this.#path()}?accepts_incomplete=true&${this.#offer()}`, {
      expect: [202, 410],
    });
  }

  /** 200 where it lives already, with the same lifetime. */
  bind(binding: string, expirationSeconds: number): Promise<Answer<BindingBody>> {
    return this.#call('PUT', this.#path(binding), {
      expect: [200, 201],
      body: {
        service_id: SERVICE_ID,
        plan_id: this.#options.wish.planId,
        parameters: { expiration_seconds: expirationSeconds },
      },
    });
  }

  getBinding(binding: string): Promise<Answer<BindingBody>> {
    return this.#call('GET', this.#path(binding), { expect: [200] });
  }

  /** 410 means that there is none. */
  unbind(binding: string): Promise<Answer<unknown>> {
    return this.#call('DELETE', `${this.#path(binding)}?${this.#offer()}`, {
      expect: [200, 410],
    });
  }

  /** Polls as a platform does, until the instance's operation has ended. */
  async lastOperation(): Promise<LastOperation> {
    for (;;) {
      const { body } = await this.#call<LastOperation>('GET', `${this.#path()}/last_operation`, {
        expect: [200],
      });
      if (body.state !== 'in progress') return body;
      await pause(POLL_EVERY_MS, undefined, { signal: this.#options.signal });
    }
  }

  /** Fails with the broker's own description when the operation fails. */
  async untilSucceeded(): Promise<void> {
    const { state, description = '' } = await this.lastOperation();
    if (state !== 'succeeded') {
      throw new DemoFailure('The operation failed. The broker says:', [description]);
    }
  }

  /** @returns the URL, for a person's commands */
  urlOf(binding: string): string {
    return `${this.#options.url}${this.#path(binding)}`;
  }

  #path(binding?: string): string {
    const ofInstance = `/v2/service_instances/${this.#options.wish.instance}`;
    return binding === undefined ? ofInstance : `${ofInstance}/service_bindings/${binding}`;
  }

  #offer(): string {
    return offerOf(this.#options.wish);
  }

  async #call<Body>(
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    { expect, body }: { readonly expect: readonly number[]; readonly body?: unknown },
  ): Promise<Answer<Body>> {
    const { url, credentials, signal } = this.#options;
    const { username, password } = credentials;
    const response = await reached(
      fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
          'x-broker-api-version': API_VERSION,
          'content-type': 'application/json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]),
      }),
    );
    const answer = (await response.json()) as Body & ErrorBody;
    const [shownPath = ''] = path.split('?');
    const line = `${method} ${shownPath} → ${response.status}`;
    if (!expect.includes(response.status)) {
      const said = [answer.error, answer.description].filter((part) => part !== undefined);
      const failure = [`${line}. The broker says:`, [said.join(': ')]] as const;
      const isRefusal = response.status >= 400 && response.status < 500;
      throw isRefusal ? new Refused(...failure, response.status) : new DemoFailure(...failure);
    }
    return { status: response.status, body: answer, line };
  }
}

/** fetch's own words for a connection that fails are two, and its cause has the rest. */
async function reached(response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    throw new DemoFailure(`The broker does not answer: ${cause}`);
  }
}

/** How OSB wants the plan in a query. */
export function offerOf({ planId }: Wish): string {
  return `service_id=${SERVICE_ID}&plan_id=${planId}`;
}
