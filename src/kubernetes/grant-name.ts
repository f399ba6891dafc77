// The name that the objects of one grant carry in a cluster. It is drawn per attempt and used once: while the API
// server still caches the authentication of a deleted account, a token has the rights of a new account of that name.

import { createHash } from 'node:crypto';

const PREFIX = 'kyma-binding-';

/** 36^10 is 51 bits: a second attempt of a binding meets an earlier name once in 10^15 draws. */
const RANDOM_LENGTH = 10;

/** Longest name of a ServiceAccount, which is a DNS-1123 subdomain. */
const MAX_NAME_LENGTH = 253;

const MAX_ID_LENGTH = MAX_NAME_LENGTH - PREFIX.length - 1 - RANDOM_LENGTH;

/** 128 bits: no two ids that anybody can find share them. */
const HASH_HEX_DIGITS = 32;

/** One DNS-1123 label; ids with dots are hashed, since each dot would have to stand between two letters or digits. */
const FITS = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const HASHED = /^sha256-[0-9a-f]{32}$/;

/** Draws that many characters of [a-z0-9]. */
type DrawRandom = (length: number) => string;

/**
 * `kyma-binding-<binding id>-<10 random characters>`, with `sha256-<32 hex digits>` in the place of an id that does
 * not fit. Two ids never give one name, whatever is drawn.
 */
export function grantName(bindingId: string, drawRandom: DrawRandom): string {
  return `${PREFIX}${idPart(bindingId)}-${drawRandom(RANDOM_LENGTH)}`;
}

function idPart(bindingId: string): string {
  // An id that looks like a hash is hashed as well, else it could stand for the id whose hash it is.
  const fits = bindingId.length <= MAX_ID_LENGTH && FITS.test(bindingId) && !HASHED.test(bindingId);
  return fits ? bindingId : `sha256-${sha256(bindingId).slice(0, HASH_HEX_DIGITS)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
