// `X-Broker-API-Originating-Identity`: whom a platform says it acts for, `<platform> <base64 of a JSON object>` (OSB
// 2.17, Originating Identity). A claim that nobody has proven: worth recording, never worth a refusal.
import type { OriginatingIdentity } from '../../domain/caller.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import { isTooLongToStore } from '../../domain/stored-text.ts';

/** Printable, so that it can be kept and shown. */
const WORD = /^[\x21-\x7e]+$/;

const NO_CONTROL_CHARACTERS = /^\P{Cc}+$/u;

/** @returns `malformed` for a value of another form or too long to be kept, undefined where there is none */
export function readOriginatingIdentity(
  header: string | readonly string[] | undefined,
): OriginatingIdentity | 'malformed' | undefined {
  if (header === undefined) {
    return undefined;
  }
  const [platform = '', encoded = '', ...rest] = String(header).trim().split(/\s+/);
  const claims = decodedObject(encoded);
  if (!WORD.test(platform) || claims === undefined || rest.length > 0) {
    return 'malformed';
  }
  const user = userIn(claims);
  return [platform, user ?? ''].some(isTooLongToStore) ? 'malformed' : { platform, user };
}

/** `user_id` (Cloud Foundry) or `username` (Kubernetes). */
function userIn(claims: JsonObject): string | undefined {
  const user = claims['user_id'] ?? claims['username'];
  return isName(user) ? user : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && NO_CONTROL_CHARACTERS.test(value);
}

function decodedObject(encoded: string) {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
