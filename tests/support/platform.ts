// A platform for tests: speaks OSB over HTTP as a platform does. Answers that exist to carry a credential (bind and
// fetch of a binding) give their token to the leak record as a secret; every other answer goes there as an output.

import { recordOutput, recordSecret } from './leak-record.ts';

export interface OsbAnswer<Body = Readonly<Record<string, unknown>>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface BindingBody {
  readonly credentials: {
    readonly kubeconfig: string;
    readonly server: string;
    readonly certificate_authority_data?: string;
    readonly token: string;
  };
  readonly metadata: { readonly expires_at: string; readonly renew_before: string };
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export interface Ids {
  readonly instance: string;
  readonly binding?: string;
}

export interface PlatformOptions {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Mount of the OSB routes; `/oauth/cf-eu10` for one with a region. */
  readonly prefix?: string;
  /** That its requests name; `own_cluster` unless said. */
  readonly planId?: string;
}

/** `kymaruntime` and its plans, whose ids never change. */
export const SERVICE_ID = '47c9dcbf-ff30-448e-ab36-d3bad66ba281';
export const OWN_CLUSTER_PLAN_ID = '03e3cb66-a4c6-4c6a-b4b0-5d42224debea';
export const AWS_PLAN_ID = '361c511f-f939-4621-b228-d0fb79a1fe15';
export const SANDBOX_PLAN_ID = '5e7b1c1a-7a55-4d0c-9d7e-2f0c8a5f9b11';

export interface Call {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/v2`, query included. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Hangs up. */
  readonly signal?: AbortSignal;
}

export class Platform {
  readonly #options: PlatformOptions;
  readonly #offering: { readonly service_id: string; readonly plan_id: string };

  constructor(options: PlatformOptions) {
    this.#options = options;
    this.#offering = { service_id: SERVICE_ID, plan_id: options.planId ?? OWN_CLUSTER_PLAN_ID };
  }

  /** The same platform, whose requests name another plan. */
  forPlan(planId: string): Platform {
    return new Platform({ ...this.#options, planId });
  }

  /** Any call; a header given as the empty text is left out. */
  async call<Body = Readonly<Record<string, unknown>>>(call: Call): Promise<OsbAnswer<Body>> {
    const { url, username, password, prefix = '' } = this.#options;
    const headers = {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      'x-broker-api-version': '2.17',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    };
    const answer = await fetch(`${url}${prefix}/v2${call.path}`, {
      method: call.method,
      headers: Object.entries(headers).filter(([, value]) => value !== ''),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    const text = await answer.text();
    note(call, answer.status, text);
    return { status: answer.status, headers: answer.headers, body: JSON.parse(text) as Body };
  }

  catalog(): Promise<OsbAnswer> {
    return this.call({ method: 'GET', path: '/catalog' });
  }

  /** Attaches a cluster; `parameters` on top of the kubeconfig. */
  provision(
    ids: Ids,
    kubeconfig: string,
    parameters: Readonly<Record<string, unknown>> = {},
  ): Promise<OsbAnswer> {
    return this.create(ids, { kubeconfig, ...parameters });
  }

  /** Makes an instance of any plan. */
  create(
    { instance }: Ids,
    parameters: Readonly<Record<string, unknown>> = {},
  ): Promise<OsbAnswer> {
    return this.call({
      method: 'PUT',
      path: `${instancePath(instance)}?accepts_incomplete=true`,
      body: {
        ...this.#offering,
        organization_guid: 'organization',
        space_guid: 'space',
        parameters,
      },
    });
  }

  /** PATCHes an instance; the body has the service alone beside what is given. */
  update(
    { instance }: Ids,
    given: Readonly<Record<string, unknown>>,
    flag = 'accepts_incomplete=true',
  ): Promise<OsbAnswer> {
    const { service_id } = this.#offering;
    const path = `${instancePath(instance)}?${flag}`;
    return this.call({ method: 'PATCH', path, body: { service_id, ...given } });
  }

  getInstance({ instance }: Ids): Promise<OsbAnswer> {
    return this.call({ method: 'GET', path: instancePath(instance) });
  }

  deprovision({ instance }: Ids): Promise<OsbAnswer> {
    return this.call({
      method: 'DELETE',
      path: `${instancePath(instance)}?accepts_incomplete=true&${this.#query()}`,
    });
  }

  lastOperation({ instance }: Ids, operation?: string): Promise<OsbAnswer> {
    const query = operation === undefined ? '' : `?operation=${encodeURIComponent(operation)}`;
    return this.call({ method: 'GET', path: `${instancePath(instance)}/last_operation${query}` });
  }

  bind(ids: Ids, parameters?: Readonly<Record<string, unknown>>): Promise<OsbAnswer<BindingBody>> {
    return this.call({
      method: 'PUT',
      path: bindingPath(ids),
      body: {
        ...this.#offering,
        ...(parameters === undefined ? {} : { parameters }),
      },
    });
  }

  getBinding(ids: Ids): Promise<OsbAnswer<BindingBody>> {
    return this.call({ method: 'GET', path: bindingPath(ids) });
  }

  unbind(ids: Ids): Promise<OsbAnswer> {
    return this.call({ method: 'DELETE', path: `${bindingPath(ids)}?${this.#query()}` });
  }

  bindingOperation(ids: Ids): Promise<OsbAnswer> {
    return this.call({ method: 'GET', path: `${bindingPath(ids)}/last_operation` });
  }

  #query(): string {
    return new URLSearchParams(this.#offering).toString();
  }
}

function instancePath(instance: string): string {
  return `/service_instances/${encodeURIComponent(instance)}`;
}

export function bindingPath({ instance, binding = '' }: Ids): string {
  return `${instancePath(instance)}/service_bindings/${encodeURIComponent(binding)}`;
}

function note({ method, path }: Call, status: number, text: string): void {
  const { credentials } = JSON.parse(text) as Partial<BindingBody>;
  const carriesCredential = /\/service_bindings\/[^/?]+(\?|$)/.test(path) && method !== 'DELETE';
  if (carriesCredential && credentials !== undefined && status < 300) {
    recordSecret('token of a binding', credentials.token);
  } else {
    recordOutput(`answer ${status} to ${method}`, text);
  }
}
