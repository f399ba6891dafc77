// The keys that seal tokens in the database, from `id:base64,id:base64`. Ids are stored with what is sealed and are
// not secret; the keys are, so faults name a key by its place in the list.
import { Secret } from '../domain/secret.ts';
import type { SealingKey } from './config.ts';
import type { ConfigFault } from './faults.ts';

const PATH = 'env RUNTIME_BROKER_SEALING_KEYS';

/** AES-256 takes exactly this many. */
const KEY_BYTES = 32;

export const SEALING_KEYS_FORM = `id:key pairs joined by commas, each key the base64 of ${KEY_BYTES} bytes`;

const ID_FORM = /^[A-Za-z0-9._-]{1,64}$/;

/** Buffer skips what is not base64; a key with a slip in it must not become another key. */
const BASE64_FORM = /^[A-Za-z0-9+/]+={0,2}$/;

/** @returns the keys in their order; without those that have a fault, which is noted */
export function readSealingKeys(
  text: Secret,
  faults: ConfigFault[],
): readonly [SealingKey, ...SealingKey[]] | undefined {
  const keys: SealingKey[] = [];
  for (const [at, part] of text.reveal().split(',').entries()) {
    const key = readPair(part.trim());
    if (typeof key === 'string') {
      faults.push({ path: `${PATH}, key ${at + 1}`, found: key, allowed: SEALING_KEYS_FORM });
    } else if (keys.some(({ id }) => id === key.id)) {
      faults.push({
        path: `${PATH}, key ${at + 1}`,
        found: 'the id of a key before it',
        allowed: 'an id of its own for each key',
      });
    } else {
      keys.push(key);
    }
  }
  const [first, ...others] = keys;
  return first === undefined ? undefined : [first, ...others];
}

/** @returns what was found instead, when it is not a pair */
function readPair(part: string): SealingKey | string {
  const colon = part.indexOf(':');
  const id = part.slice(0, colon);
  if (colon === -1) {
    return 'a text without a colon';
  }
  if (!ID_FORM.test(id)) {
    return 'an id that is not 1 to 64 letters, digits, dots, dashes or underscores';
  }
  const encoded = part.slice(colon + 1);
  if (!BASE64_FORM.test(encoded)) {
    return 'a key that is not base64';
  }
  const key = new Uint8Array(Buffer.from(encoded, 'base64'));
  return key.length === KEY_BYTES ? { id, key: new Secret(key) } : `a key of ${key.length} bytes`;
}
