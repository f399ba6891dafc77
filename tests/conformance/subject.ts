// What the cases are run against: a broker that is there, an offer of it that can be had, and what nearly every case
// needs of both. Cases get it inside tests only: while they are collected no broker has been started.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, OsbClient } from './osb-client.ts';

export interface Offer {
  readonly serviceId: string;
  readonly planId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface SubjectParts {
  readonly osb: OsbClient;
  readonly offer: Offer;
  /** What the routes are served under, each without `/v2`. */
  readonly prefixes: readonly string[];
  /** Undefined where the broker is somebody else's to restart. */
  readonly restart: (() => Promise<void>) | undefined;
}

export type OpenSubject = () => Subject;

/** Attaching a cluster takes a second; the broker gives up after a minute. */
const OPERATION_LIMIT_MS = 90_000;

/** Short against what is waited for, long against the cost of asking. */
const POLL_EVERY_MS = 50;

export class Subject {
  readonly osb: OsbClient;
  readonly offer: Offer;
  readonly prefixes: readonly string[];
  readonly restart: (() => Promise<void>) | undefined;
  #instance: Promise<string> | undefined;
  /** Made through `provision`, and not yet deleted through `deprovision`. */
  readonly #made = new Set<string>();

  constructor({ osb, offer, prefixes, restart }: SubjectParts) {
    this.osb = osb;
    this.offer = offer;
    this.prefixes = prefixes;
    this.restart = restart;
  }

  /** `service_id=…&plan_id=…` */
  get offerQuery(): string {
    const { serviceId, planId } = this.offer;
    return new URLSearchParams({ service_id: serviceId, plan_id: planId }).toString();
  }

  get offerFields(): { readonly service_id: string; readonly plan_id: string } {
    return { service_id: this.offer.serviceId, plan_id: this.offer.planId };
  }

  /** A body that provisions. */
  provisioning(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    return {
      ...this.offerFields,
      organization_guid: 'organization',
      space_guid: 'space',
      parameters: this.offer.parameters,
      ...changes,
    };
  }

  /** One that is ready, for cases that leave it as it is. */
  instance(): Promise<string> {
    this.#instance ??= this.provision();
    return this.#instance;
  }

  /** Returns its id once it is ready. */
  async provision(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const id = freshId();
    const accepted = await this.put(id, changes);
    if (accepted.status !== 202) throw new Error(`provisioning was answered ${accepted.status}`);
    const { state, description } = await this.settled(id);
    if (state !== 'succeeded') throw new Error(`provisioning ${state}: ${description}`);
    return id;
  }

  put(id: string, changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    this.#made.add(id);
    const path = `${instancePath(id)}?accepts_incomplete=true`;
    return this.osb.call({ method: 'PUT', path, body: this.provisioning(changes) });
  }

  delete(id: string): Promise<Answer> {
    const path = `${instancePath(id)}?accepts_incomplete=true&${this.offerQuery}`;
    return this.osb.call({ method: 'DELETE', path });
  }

  /** Returns once it is deleted. */
  async deprovision(id: string): Promise<void> {
    await this.delete(id);
    await this.settled(id);
    this.#made.delete(id);
  }

  /** Leaves nothing behind on a broker that lives on. */
  async deprovisionAll(): Promise<void> {
    for (const id of this.#made) await this.deprovision(id);
  }

  /** Polls until the latest operation has ended, and returns what is then told; of an id that is gone, 404 as `gone`. */
  async settled(id: string): Promise<{ readonly state: string; readonly description: string }> {
    const deadline = performance.now() + OPERATION_LIMIT_MS;
    for (;;) {
      const { status, body } = await this.osb.call({ path: `${instancePath(id)}/last_operation` });
      const state = status === 200 ? String(body['state']) : 'gone';
      if (state !== 'in progress') return { state, description: String(body['description']) };
      if (performance.now() > deadline) throw new Error(`the operation of ${id} does not end`);
      await pause(POLL_EVERY_MS);
    }
  }

  bind(
    instance: string,
    binding: string,
    changes: Readonly<Record<string, unknown>> = {},
  ): Promise<Answer> {
    const body = { ...this.offerFields, ...changes };
    return this.osb.call({ method: 'PUT', path: bindingPath(instance, binding), body });
  }

  unbind(instance: string, binding: string): Promise<Answer> {
    const path = `${bindingPath(instance, binding)}?${this.offerQuery}`;
    return this.osb.call({ method: 'DELETE', path });
  }
}

export function freshId(): string {
  return `conformance-${randomUUID()}`;
}

export function instancePath(id: string, prefix = ''): string {
  return `${prefix}/v2/service_instances/${encodeURIComponent(id)}`;
}

export function bindingPath(instance: string, binding: string): string {
  return `${instancePath(instance)}/service_bindings/${encodeURIComponent(binding)}`;
}
