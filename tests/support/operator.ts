// An operator for tests: speaks to the operators' listener over HTTP, with the credentials of one. No answer carries a
// credential, so all of them go to the leak record as outputs.
import { recordOutput } from './leak-record.ts';

export interface OperatorAnswer<Body = Readonly<Record<string, unknown>>> {
  readonly status: number;
  readonly body: Body;
}

export interface ListedBinding {
  readonly instanceID: string;
  readonly bindingID: string;
  readonly state: string;
  readonly grant: string;
  readonly instanceDeleted: boolean;
  readonly cause?: string;
  readonly tries?: number;
  readonly nextTryAt?: string;
}

export interface BindingsAnswer {
  readonly data: readonly ListedBinding[];
  readonly count: number;
  readonly nextCursor?: string;
}

export interface OperatorOptions {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

export class Operator {
  readonly #options: OperatorOptions;

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  async call<Body = Readonly<Record<string, unknown>>>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<OperatorAnswer<Body>> {
    const { url, username, password } = this.#options;
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    recordOutput(`answer ${answer.status} to an operator`, text);
    return { status: answer.status, body: JSON.parse(text) as Body };
  }

  /** `query` as it stands behind the question mark. */
  bindings(query = ''): Promise<OperatorAnswer<BindingsAnswer>> {
    return this.call('GET', `/bindings?${query}`);
  }

  retry(
    { instance, binding }: { readonly instance: string; readonly binding: string },
    body: unknown = { reason: 'a test' },
  ): Promise<OperatorAnswer> {
    const path = `${encodeURIComponent(instance)}/${encodeURIComponent(binding)}`;
    return this.call('POST', `/bindings/${path}/retry`, body);
  }

  clusterGone(instance: string, body: unknown = { reason: 'a test' }): Promise<OperatorAnswer> {
    return this.call('POST', `/runtimes/${encodeURIComponent(instance)}/cluster-gone`, body);
  }

  revokeAll(instance: string, body: unknown = { reason: 'a test' }): Promise<OperatorAnswer> {
    return this.call('DELETE', `/runtimes/${encodeURIComponent(instance)}/bindings`, body);
  }

  confirmRestore(instance: string, body: unknown = { reason: 'a test' }): Promise<OperatorAnswer> {
    return this.call('POST', `/runtimes/${encodeURIComponent(instance)}/confirm-restore`, body);
  }
}
