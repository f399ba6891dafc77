// Says in a sentence what is wrong with a body that does not fit its schema: which field, and what it must be. Values
// are not repeated: a misplaced one may be a credential.
import type { FastifySchemaValidationError } from 'fastify';

import { BrokerError } from '../domain/errors.ts';
import { cleaned } from '../domain/shown-text.ts';

/** @param faults of one request, the deepest first */
export function bodyFault(faults: readonly FastifySchemaValidationError[]): BrokerError {
  const [fault] = faults;
  return new BrokerError({
    code: 'malformed-request',
    description: fault === undefined ? 'The body is malformed.' : sentence(fault),
  });
}

function sentence({
  keyword,
  instancePath,
  params,
  message,
}: FastifySchemaValidationError): string {
  const field = instancePath.slice(1).replaceAll('/', '.');
  switch (keyword) {
    case 'required':
      return `The body must have ${below(field, params['missingProperty'])}.`;
    case 'additionalProperties':
      return `${below(field, params['additionalProperty'])} is not known.`;
    case 'minLength':
      return `${field} must not be empty.`;
    case 'maxLength':
      return `${field} must not be longer than ${String(params['limit'])} characters.`;
    case 'type':
      return field === ''
        ? 'The body must be a JSON object.'
        : `${field} must be of type ${String(params['type'])}.`;
    default:
      return `${field === '' ? 'The body' : field} ${message ?? 'is malformed'}.`;
  }
}

function below(field: string, key: unknown): string {
  const name = cleaned(String(key));
  return field === '' ? name : `${field}.${name}`;
}
