// The requests of the instance matrix, as a platform words them, each with fields that OSB does not know.

import { type Call, OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';

export interface Target {
  readonly instance: string;
  readonly kubeconfig: string;
  /** That of an update which runs. */
  readonly newKubeconfig?: string | undefined;
}

export type RequestTo = (target: Target) => Call;

const FLAG = 'accepts_incomplete=true';

function pathOf({ instance }: Target): string {
  return `/service_instances/${encodeURIComponent(instance)}`;
}

/** `parameters` on top of the kubeconfig. */
export function put(parameters: Readonly<Record<string, unknown>> = {}, flag = FLAG): RequestTo {
  return (target) => ({
    method: 'PUT',
    path: `${pathOf(target)}?${flag}`,
    body: {
      service_id: SERVICE_ID,
      plan_id: OWN_CLUSTER_PLAN_ID,
      organization_guid: 'organization',
      space_guid: 'space',
      context: { platform: 'test', unknown_to_osb: true },
      parameters: { kubeconfig: target.kubeconfig, ...parameters },
    },
  });
}

/** A change that the instance can take unless its state forbids it. */
export const RENAMED = { parameters: { name: 'renamed' } };

export function patch(body: Readonly<Record<string, unknown>>, flag = FLAG): RequestTo {
  return (target) => ({
    method: 'PATCH',
    path: `${pathOf(target)}?${flag}`,
    body: { service_id: SERVICE_ID, ...body },
  });
}

/** What an instance is brought into the state "updating" with: the same cluster, by another address. */
export function patchAgain(flag = FLAG): RequestTo {
  return (target) =>
    patch({ parameters: { kubeconfig: target.newKubeconfig ?? target.kubeconfig } }, flag)(target);
}

/** Each part of the query may be left out. */
export function remove({
  flag = FLAG,
  service = `service_id=${SERVICE_ID}`,
  plan = `plan_id=${OWN_CLUSTER_PLAN_ID}`,
} = {}): RequestTo {
  return (target) => ({
    method: 'DELETE',
    path: `${pathOf(target)}?${[flag, service, plan].join('&')}`,
  });
}

/** `below` the instance's path. */
export function get(below = ''): RequestTo {
  return (target) => ({ method: 'GET', path: `${pathOf(target)}${below}` });
}

export function bind(): RequestTo {
  return (target) => ({
    method: 'PUT',
    path: `${pathOf(target)}/service_bindings/new`,
    body: { service_id: SERVICE_ID, plan_id: OWN_CLUSTER_PLAN_ID },
  });
}

export function unbind(): RequestTo {
  return (target) => ({
    method: 'DELETE',
    path: `${pathOf(target)}/service_bindings/new?service_id=${SERVICE_ID}&plan_id=${OWN_CLUSTER_PLAN_ID}`,
  });
}
