// Speaks to the broker as a platform does: OSB over HTTP. Each answer comes with the line that tells of it.

import { setTimeout as pause } from 'node:timers/promises';
import { USERNAME } from './broker-process.ts';
import { DemoFailure } from './demo-failure.ts';

/** `kymaruntime`, and its plan `own_cluster`: an existing cluster is attached by its kubeconfig. */
export const SERVICE_ID = '47c9dcbf-ff30-448e-ab36-d3bad66ba281';
export const PLAN_ID = '03e3cb66-a4c6-4c6a-b4b0-5d42224debea';

const OFFER = `service_id=${SERVICE_ID}&plan_id=${PLAN_ID}`;

export const API_VERSION = '2.17';

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  /** `PUT /v2/service_instances/story → 202` */
  readonly line: string;
}

export interface BindingBody {
  readonly credentials: { readonly kubeconfig: string; readonly server: string };
  readonly metadata: { readonly expires_at: string; readonly renew_before: string };
}

/** A 4xx: the request has changed nothing. */
export class Refused extends DemoFailure {}

interface ErrorBody {
  readonly error?: string;
  readonly description?: string;
}

export interface OsbOptions {
  readonly url: string;
  readonly password: string;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** A bind is answered within 20 s, at the latest. */
const ANSWER_LIMIT_MS = 30_000;

/** A person's eye; platforms ask every few seconds. */
const POLL_EVERY_MS = 200;

export class Osb {
  readonly #options: OsbOptions;

  constructor(options: OsbOptions) {
    this.#options = options;
  }

  /** The same broker, for what another signal ends. */
  until(signal: AbortSignal): Osb {
    return new Osb({ ...this.#options, signal });
  }

  attach(instance: string, kubeconfig: string): Promise<Answer<unknown>> {
    return this.#call('PUT', `${pathOf(instance)}?accepts_incomplete=true`, {
      expect: [202],
      body: {
        service_id: SERVICE_ID,
        plan_id: PLAN_ID,
        organization_guid: 'demo',
        space_guid: 'demo',
        parameters: { name: 'demo', kubeconfig },
      },
    });
  }

  /** 410 means that there is none. */
  deprovision(instance: string): Promise<Answer<unknown>> {
    return this.#call('DELETE', `${pathOf(instance)}?accepts_incomplete=true&${OFFER}`, {
      expect: [202, 410],
    });
  }

  bind(instance: string, binding: string, expirationSeconds: number): Promise<Answer<BindingBody>> {
    return this.#call('PUT', pathOf(instance, binding), {
      expect: [201],
      body: {
        service_id: SERVICE_ID,
        plan_id: PLAN_ID,
        parameters: { expiration_seconds: expirationSeconds },
      },
    });
  }

  getBinding(instance: string, binding: string): Promise<Answer<BindingBody>> {
    return this.#call('GET', pathOf(instance, binding), { expect: [200] });
  }

  unbind(instance: string, binding: string): Promise<Answer<unknown>> {
    return this.#call('DELETE', `${pathOf(instance, binding)}?${OFFER}`, { expect: [200] });
  }

  /** Polls as a platform does. Fails with the broker's own description when the operation fails. */
  async untilSucceeded(instance: string): Promise<string> {
    for (let polls = 1; ; polls += 1) {
      const { body, line } = await this.#call<{ state: string; description?: string }>(
        'GET',
        `${pathOf(instance)}/last_operation`,
        { expect: [200] },
      );
      if (body.state === 'succeeded') return `${line} ${body.state}, asked ${times(polls)}`;
      if (body.state === 'failed') {
        throw new DemoFailure('The operation failed. The broker says:', [body.description ?? '']);
      }
      await pause(POLL_EVERY_MS, undefined, { signal: this.#options.signal });
    }
  }

  async #call<Body>(
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    { expect, body }: { readonly expect: readonly number[]; readonly body?: unknown },
  ): Promise<Answer<Body>> {
    const { url, password, signal } = this.#options;
    const response = await reached(
      fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${USERNAME}:${password}`).toString('base64')}`,
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
      const isRefusal = response.status >= 400 && response.status < 500;
      const Failure = isRefusal ? Refused : DemoFailure;
      throw new Failure(`${line}. The broker says:`, [said.join(': ')]);
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

export function pathOf(instance: string, binding?: string): string {
  const ofInstance = `/v2/service_instances/${instance}`;
  return binding === undefined ? ofInstance : `${ofInstance}/service_bindings/${binding}`;
}

function times(count: number): string {
  return ['', 'once', 'twice'][count] ?? `${count} times`;
}
