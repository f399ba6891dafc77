// Refusals in Kubernetes' own form, a Status object, with the texts of kube-apiserver where programs read them.

import type { JsonObject } from './kube-object.ts';

/** What a Status says about the object that it concerns. */
export interface Subject {
  /** Plural resource; in a refusal of a value, the kind. */
  readonly kind: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly name?: string | undefined;
}

export interface FieldCause {
  readonly reason: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueForbidden';
  /** With its kind in front: `Invalid value: 5: may not …`. */
  readonly message: string;
  readonly field: string;
}

/** Thrown anywhere below a route, answered in one place. */
export class StatusError extends Error {
  readonly code: number;
  readonly status: JsonObject;

  constructor(code: number, fields: { message: string; reason?: string; details?: JsonObject }) {
    super(fields.message);
    this.name = 'StatusError';
    this.code = code;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: fields.message,
      ...(fields.reason === undefined ? {} : { reason: fields.reason }),
      ...(fields.details === undefined ? {} : { details: fields.details }),
      code,
    };
  }
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, { message, reason: 'BadRequest' });
}

export function unauthorized(): StatusError {
  return new StatusError(401, { message: 'Unauthorized', reason: 'Unauthorized' });
}

export function forbidden(
  subject: Subject,
  why: string,
  causes: readonly JsonObject[] = [],
): StatusError {
  const named = subject.name === undefined ? '' : ` "${subject.name}"`;
  return new StatusError(403, {
    message: `${qualified(subject)}${named} is forbidden: ${why}`,
    reason: 'Forbidden',
    details: { ...detailsOf(subject), ...(causes.length === 0 ? {} : { causes }) },
  });
}

export function forbiddenPath(message: string): StatusError {
  return new StatusError(403, { message, reason: 'Forbidden', details: {} });
}

export function notFound(subject: Subject): StatusError {
  return new StatusError(404, {
    message: `${qualified(subject)} "${subject.name}" not found`,
    reason: 'NotFound',
    details: detailsOf(subject),
  });
}

export function noSuchResource(): StatusError {
  return new StatusError(404, {
    message: 'the server could not find the requested resource',
    reason: 'NotFound',
    details: {},
  });
}

export function methodNotAllowed(): StatusError {
  return new StatusError(405, {
    message: 'the server does not allow this method on the requested resource',
    reason: 'MethodNotAllowed',
    details: {},
  });
}

export function notAcceptable(): StatusError {
  return new StatusError(406, {
    message:
      'only the following media types are accepted: application/json, application/json;stream=watch',
    reason: 'NotAcceptable',
    details: {},
  });
}

export function alreadyExists(subject: Subject): StatusError {
  return new StatusError(409, {
    message: `${qualified(subject)} "${subject.name}" already exists`,
    reason: 'AlreadyExists',
    details: detailsOf(subject),
  });
}

export function conflict(subject: Subject, why: string): StatusError {
  return new StatusError(409, {
    message: `Operation cannot be fulfilled on ${qualified(subject)} "${subject.name}": ${why}`,
    reason: 'Conflict',
    details: detailsOf(subject),
  });
}

/** Too old to go on from: of a watch, or of a list in pages. */
export function expired(message: string): StatusError {
  return new StatusError(410, { message, reason: 'Expired' });
}

export function bodyTooLarge(limitBytes: number): StatusError {
  return new StatusError(413, {
    message: `Request entity too large: limit is ${limitBytes}`,
    reason: 'RequestEntityTooLarge',
  });
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError(415, {
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    reason: 'UnsupportedMediaType',
  });
}

/** `subject.kind` is the kind here, not the resource. */
export function invalid(subject: Subject, causes: readonly FieldCause[]): StatusError {
  const faults = causes.map(({ field, message }) => `${field}: ${message}`);
  const what = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`;
  return new StatusError(422, {
    message: `${qualified(subject)} "${subject.name ?? ''}" is invalid: ${what}`,
    reason: 'Invalid',
    details: { ...detailsOf(subject), causes: causes.map((cause) => ({ ...cause })) },
  });
}

/** A JSON patch that does not fit the object. */
export function patchDoesNotApply(): StatusError {
  return new StatusError(422, {
    message: 'the server rejected our request due to an error in our request',
    reason: 'Invalid',
    details: {},
  });
}

export function internalError(message: string): StatusError {
  return new StatusError(500, { message });
}

export function invalidValue(field: string, value: unknown, why: string): FieldCause {
  const message = `Invalid value: ${JSON.stringify(value)}: ${why}`;
  return { reason: 'FieldValueInvalid', message, field };
}

export function requiredValue(field: string, why = ''): FieldCause {
  const message = why === '' ? 'Required value' : `Required value: ${why}`;
  return { reason: 'FieldValueRequired', message, field };
}

export function forbiddenValue(field: string, why: string): FieldCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field };
}

function qualified({ kind, group }: Subject): string {
  return group === '' ? kind : `${kind}.${group}`;
}

function detailsOf({ kind, group, name }: Subject): JsonObject {
  return {
    ...(name === undefined || name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind,
  };
}
