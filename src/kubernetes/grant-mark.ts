// The mark that proves an object in a tenant's cluster to be made by this installation. Labels and annotations lie
// in the tenant's hands, so they carry a MAC; keeping the key is left to storage.

import { createHmac, timingSafeEqual } from 'node:crypto';

import type { Secret } from '../domain/secret.ts';

export const MARK_ANNOTATION = 'runtime-broker/mark';

type MarkKey = Secret<Buffer>;

/** Who marks, and with what. */
export interface Marker {
  readonly key: MarkKey;
  /** The installation's uuid, as in the label `runtime-broker/installation`. */
  readonly installation: string;
}

/** What a mark speaks for: every object of the grant of this name. */
interface MarkedGrant {
  readonly name: string;
  readonly issuedAt: Date;
}

/** The annotation's value: `<unix ms>.<base64url of HMAC-SHA-256>`. */
export function makeMark(marker: Marker, grant: MarkedGrant): string {
  const issuedAt = String(grant.issuedAt.getTime());
  return `${issuedAt}.${authenticate(marker, grant.name, issuedAt).toString('base64url')}`;
}

/** The time of issue that the mark vouches for, or undefined where it is not this marker's mark for that name. */
export function verifyMark(marker: Marker, name: string, mark: string): Date | undefined {
  const [, issuedAt, code] = MARK_FORM.exec(mark) ?? [];
  if (issuedAt === undefined || code === undefined) return undefined;
  const given = Buffer.from(code, 'base64url');
  return timingSafeEqual(given, authenticate(marker, name, issuedAt))
    ? new Date(Number(issuedAt))
    : undefined;
}

/** An object of a cluster, as far as its mark needs it. */
export interface MarkedObject {
  readonly metadata?: {
    readonly name?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** As verifyMark, for an object as the cluster shows it. */
export function verifyMarkOf(marker: Marker, object: MarkedObject): Date | undefined {
  const { name, annotations } = object.metadata ?? {};
  const mark = annotations?.[MARK_ANNOTATION];
  return name === undefined || mark === undefined ? undefined : verifyMark(marker, name, mark);
}

/** 13 digits last until the year 2286; a SHA-256 has 43 base64url digits. */
const MARK_FORM = /^([1-9][0-9]{0,12})\.([A-Za-z0-9_-]{43})$/;

/** JSON keeps the parts apart whatever they contain; the first says what this MAC is for. */
function authenticate(marker: Marker, name: string, issuedAt: string): Buffer {
  return createHmac('sha256', marker.key.reveal())
    .update(JSON.stringify([MARK_ANNOTATION, marker.installation, name, issuedAt]))
    .digest();
}
