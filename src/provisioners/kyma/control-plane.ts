// Objects of instances on the control plane (KCP). Which of them are made and removed when is left to the steps. What
// fails is a failure of the control plane, never of a target cluster.
import { UpstreamError } from '../../domain/errors.ts';
import type { Instance } from '../../domain/instance.ts';
import type { KubernetesObject } from '../../kubernetes/cluster-answer.ts';
import type { ClusterCall, ClusterClient } from '../../kubernetes/cluster-client.ts';
import { hasReason } from '../../kubernetes/failures.ts';
import { namespacePath, objectPath } from '../../kubernetes/resource-paths.ts';
import {
  CONTROL_PLANE_NAMESPACE,
  INSTANCE_ID_LABEL,
  INSTANCE_KEY_ANNOTATION,
  labelValue,
} from './kyma-order.ts';

export interface Collection {
  readonly kind: string;
  /** As in `get runtimes`. */
  readonly resource: string;
  readonly path: string;
}

export const RUNTIMES: Collection = {
  kind: 'Runtime',
  resource: 'runtimes',
  path: `/apis/infrastructuremanager.kyma-project.io/v1/namespaces/${CONTROL_PLANE_NAMESPACE}/runtimes`,
};

export const KYMAS: Collection = {
  kind: 'Kyma',
  resource: 'kymas',
  path: `/apis/operator.kyma-project.io/v1beta2/namespaces/${CONTROL_PLANE_NAMESPACE}/kymas`,
};

export const SECRETS: Collection = {
  kind: 'Secret',
  resource: 'secrets',
  path: `${namespacePath(CONTROL_PLANE_NAMESPACE)}/secrets`,
};

export interface ControlPlaneObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status?: { readonly state?: string };
  /** Of a Secret, each value in base64. */
  readonly data?: Readonly<Record<string, string>>;
}

interface ObjectList extends KubernetesObject {
  readonly items?: readonly ControlPlaneObject[];
}

export class ControlPlane {
  readonly #client: () => ClusterClient;

  /** @param client asked at each call, since clients are closed when they are not used */
  constructor(client: () => ClusterClient) {
    this.#client = client;
  }

  /**
   * Undefined only where the control plane has said that nothing has this name: a list is asked for, whose emptiness
   * nobody can mistake. A 404 also comes from a proxy, or from an API server that does not know the kind.
   */
  async find(
    { kind, resource, path }: Collection,
    name: string,
    signal?: AbortSignal,
  ): Promise<ControlPlaneObject | undefined> {
    const selector = encodeURIComponent(`metadata.name=${name}`);
    const action = `list ${resource}`;
    const list = await this.#request<ObjectList>({
      method: 'GET',
      path: `${path}?fieldSelector=${selector}`,
      action,
      expect: [`${kind}List`],
      signal,
    });
    const { items } = list;
    if (items === undefined) throw malformed(action, 'a list without items');
    return items.find(({ metadata }) => metadata.name === name);
  }

  /** `exists`: something has this name already, and nothing was made. */
  async create(
    { kind, resource, path }: Collection,
    object: unknown,
    signal: AbortSignal,
  ): Promise<'created' | 'exists'> {
    try {
      const expect = [kind];
      const action = `create ${resource}`;
      await this.#request({ method: 'POST', path, body: object, action, expect, signal });
      return 'created';
    } catch (error) {
      if (hasReason(error, 'conflict')) return 'exists';
      throw error;
    }
  }

  /** Orders the end of the object of that uid; a finalizer may still hold it. A repeat changes nothing. */
  async remove(
    { kind, resource, path }: Collection,
    { name, uid }: ControlPlaneObject['metadata'],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#request({
        method: 'DELETE',
        path: objectPath(path, name),
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Background',
          preconditions: { uid },
        },
        action: `delete ${resource}`,
        expect: [kind, 'Status'],
        signal,
      });
    } catch (error) {
      // Gone meanwhile, or another one of that name: who asks next sees which.
      if (!hasReason(error, 'not-found') && !hasReason(error, 'conflict')) throw error;
    }
  }

  async #request<T extends KubernetesObject>(call: ClusterCall): Promise<T> {
    try {
      return await this.#client().request<T>(call);
    } catch (error) {
      throw ofControlPlane(error);
    }
  }
}

/** Whether we made it for this instance; an object of another instance is never adopted, changed or removed. */
export function isOf({ metadata }: ControlPlaneObject, instance: Instance): boolean {
  return (
    metadata.labels?.[INSTANCE_ID_LABEL] === labelValue(instance.id) &&
    metadata.annotations?.[INSTANCE_KEY_ANNOTATION] === instance.key
  );
}

function ofControlPlane(error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const { action, reason, status, retryAfterSeconds, message } = error;
  return new UpstreamError({
    system: 'control-plane',
    action,
    reason,
    detail: message.replace(`${error.system}: ${action}: `, ''),
    ...(status === undefined ? {} : { status }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

export function malformed(action: string, detail: string): UpstreamError {
  return new UpstreamError({ system: 'control-plane', action, reason: 'malformed-answer', detail });
}
