// Query values of OSB requests. A value that is given twice says nothing, and neither does an empty one.
import { BrokerError } from '../../domain/errors.ts';

export function queryValue(query: unknown, name: string): string | undefined {
  const values = query as Readonly<Record<string, unknown>>;
  const value = values[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Exactly `true` counts (C52). */
export function acceptsIncomplete(query: unknown): boolean {
  return queryValue(query, 'accepts_incomplete') === 'true';
}

export interface NamedOffer {
  readonly serviceId: string;
  readonly planId: string;
}

/** @throws BrokerError where one of the two is missing, before anybody asks what exists (C100, C141) */
export function namedOffer(query: unknown): NamedOffer {
  const serviceId = queryValue(query, 'service_id');
  const planId = queryValue(query, 'plan_id');
  if (serviceId === undefined || planId === undefined) {
    throw new BrokerError({
      code: 'malformed-request',
      description: 'The query must have service_id and plan_id, each once and not empty.',
    });
  }
  return { serviceId, planId };
}
