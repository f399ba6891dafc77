// The routes of OSB 2.17 that the broker has, for cases that hold for all of them.

import type { Call } from './osb-client.ts';
import { bindingPath, instancePath, type Subject } from './subject.ts';

export interface Route {
  readonly title: string;
  /** A request for things that do not exist, whole in every other way. */
  readonly call: (subject: Subject) => Call;
}

const INSTANCE = instancePath('nobody-has-this-instance');
const BINDING = bindingPath('nobody-has-this-instance', 'nobody-has-this-binding');

export const ROUTES: readonly Route[] = [
  { title: 'fetching the catalog', call: () => ({ path: '/v2/catalog' }) },
  {
    title: 'provisioning',
    call: (subject) => ({
      method: 'PUT',
      path: `${INSTANCE}?accepts_incomplete=true`,
      body: subject.provisioning(),
    }),
  },
  { title: 'fetching an instance', call: () => ({ path: INSTANCE }) },
  {
    title: 'updating',
    call: ({ offer }) => ({
      method: 'PATCH',
      path: `${INSTANCE}?accepts_incomplete=true`,
      body: { service_id: offer.serviceId, parameters: {} },
    }),
  },
  {
    title: 'deprovisioning',
    call: ({ offerQuery }) => ({
      method: 'DELETE',
      path: `${INSTANCE}?accepts_incomplete=true&${offerQuery}`,
    }),
  },
  {
    title: 'polling an instance',
    call: () => ({ path: `${INSTANCE}/last_operation` }),
  },
  {
    title: 'binding',
    call: ({ offerFields }) => ({ method: 'PUT', path: BINDING, body: offerFields }),
  },
  { title: 'fetching a binding', call: () => ({ path: BINDING }) },
  {
    title: 'unbinding',
    call: ({ offerQuery }) => ({ method: 'DELETE', path: `${BINDING}?${offerQuery}` }),
  },
  { title: 'polling a binding', call: () => ({ path: `${BINDING}/last_operation` }) },
];
