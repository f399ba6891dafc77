// When a holder should fetch the next credential: between 75 and 85 % of the lifetime. The share is drawn from the
// binding's id, so that repeats of a request agree and a fleet does not renew in step (docs/api.md, "Bind").

const EARLIEST_SHARE = 0.75;
const SPREAD = 0.1;

export interface Lifetime {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

export function renewBefore(bindingId: string, lifetime: Lifetime): Date {
  const start = lifetime.issuedAt.getTime();
  const share = EARLIEST_SHARE + SPREAD * fractionOf(bindingId);
  return new Date(start + Math.floor((lifetime.expiresAt.getTime() - start) * share));
}

/** Scaled to [0, 1). FNV-1a leaves ids that differ in their last character close together; the finish spreads them. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
