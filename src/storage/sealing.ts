// Secrets at rest: AES-256-GCM under one of several keys, each value bound to the column and row it lies in, so that
// one that was copied to another row does not open. Which values are sealed is left to the callers.
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { Secret } from '../domain/secret.ts';

export interface SealingKey {
  /** Written beside each value that it seals. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Secret<Uint8Array>;
}

/** Where a sealed value lies; it opens nowhere else. */
export interface SealedPlace {
  readonly table: string;
  readonly column: string;
  /** Primary key of the row. */
  readonly row: string;
}

/** A value that no key opens: the key is gone, or the value was changed or moved. Says which key, never what. */
export class SealingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SealingError';
  }
}

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';

/** What GCM is made for; random ones are safe for 2^32 values under one key (NIST SP 800-38D, 8.3). */
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Sealed {
  readonly keyId: string;
  readonly iv: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

export class Sealer {
  readonly #current: string;
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /** The first key seals, all of them open. */
  constructor(keys: readonly [SealingKey, ...SealingKey[]]) {
    this.#current = keys[0].id;
    // A key object is made once: making one for each value triples the time that sealing takes.
    this.#keys = new Map(keys.map(({ id, key }) => [id, createSecretKey(key.reveal())]));
  }

  /** @returns text for a column: `v1.<key id>.<iv>.<ciphertext and tag>`, another one each time. */
  seal(plain: Secret, place: SealedPlace): string {
    // Drawn here and not handed in: a value used twice under one key would give both plain texts away.
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(this.#current), iv);
    cipher.setAAD(boundTo(place));
    const sealed = [cipher.update(plain.reveal(), 'utf8'), cipher.final(), cipher.getAuthTag()];
    const parts = [iv, Buffer.concat(sealed)].map((part) => part.toString('base64url'));
    return [VERSION, this.#current, ...parts].join('.');
  }

  /** @throws SealingError */
  open(sealed: string, place: SealedPlace): Secret {
    const { keyId, iv, ciphertext, tag } = parse(sealed);
    const decipher = createDecipheriv(CIPHER, this.#keyOf(keyId), iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(place));
    decipher.setAuthTag(tag);
    try {
      return new Secret(Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString());
    } catch {
      // Node says no more than that authentication failed.
      throw new SealingError(
        `the value in ${place.table}.${place.column} does not open under key ${keyId}: ` +
          'it was changed, moved from another row, or sealed by another key of that id',
      );
    }
  }

  /** Whether it was sealed under the key that seals now, as it says. @throws SealingError for what is not sealed */
  isCurrent(sealed: string): boolean {
    return parse(sealed).keyId === this.#current;
  }

  #keyOf(keyId: string): KeyObject {
    const key = this.#keys.get(keyId);
    if (key === undefined) {
      throw new SealingError(`there is no sealing key ${keyId}`);
    }
    return key;
  }
}

/** No table or column has a slash in its name, so no two places are bound alike. */
function boundTo({ table, column, row }: SealedPlace): Buffer {
  return Buffer.from(`${table}/${column}/${row}`);
}

/** From the right, since a key id may have dots and base64url has none. */
const SEALED_FORM = /^v1\.(?<keyId>.+)\.(?<iv>[\w-]+)\.(?<rest>[\w-]+)$/s;

function parse(sealed: string): Sealed {
  const { keyId, iv, rest } = SEALED_FORM.exec(sealed)?.groups ?? {};
  if (keyId === undefined || iv === undefined || rest === undefined) {
    throw new SealingError('the value is not in the form of a sealed one');
  }
  const body = Buffer.from(rest, 'base64url');
  const nonce = Buffer.from(iv, 'base64url');
  if (nonce.length !== IV_BYTES || body.length < TAG_BYTES) {
    throw new SealingError(`the value sealed under key ${keyId} was cut short`);
  }
  return {
    keyId,
    iv: nonce,
    ciphertext: body.subarray(0, -TAG_BYTES),
    tag: body.subarray(-TAG_BYTES),
  };
}
