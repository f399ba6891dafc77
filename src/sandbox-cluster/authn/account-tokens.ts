// The tokens of service accounts: what they claim, and whether one that is presented speaks for an account that is
// there. How long an answer is believed is left to the authenticator.

import { type JsonObject, type KubeObject, mapAt, textAt, textsAt } from '../api/kube-object.ts';
import type { Clock, Draw } from '../api/surroundings.ts';
import { accountGroups, accountUsername, AUTHENTICATED, type User } from '../api/user.ts';
import type { ObjectTable } from '../objects/object-table.ts';
import type { TokenKey } from './token-key.ts';

/** Also the audience of the API server itself; a token for others is no credential here. */
export const ISSUER = 'https://kubernetes.default.svc';

export const SERVICE_ACCOUNTS = '/serviceaccounts';

/** An account that is being deleted still counts for a minute, as on a real API server. */
const DELETED_LEEWAY_MS = 60_000;

export interface TokenOrder {
  readonly account: KubeObject;
  readonly audiences: readonly string[];
  readonly lifetimeSeconds: number;
}

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: Date;
}

export class AccountTokens {
  readonly #key: TokenKey;
  readonly #objects: ObjectTable;
  readonly #surroundings: { readonly clock: Clock; readonly draw: Draw };

  constructor(
    key: TokenKey,
    objects: ObjectTable,
    surroundings: { readonly clock: Clock; readonly draw: Draw },
  ) {
    this.#key = key;
    this.#objects = objects;
    this.#surroundings = surroundings;
  }

  issue({ account, audiences, lifetimeSeconds }: TokenOrder): IssuedToken {
    const { name, namespace = '', uid } = account.metadata;
    const now = this.#nowSeconds();
    const exp = now + lifetimeSeconds;
    const token = this.#key.sign({
      aud: audiences,
      exp,
      iat: now,
      iss: ISSUER,
      jti: this.#surroundings.draw.uuid(),
      'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      nbf: now,
      sub: accountUsername(namespace, name),
    });
    return { token, expiresAt: new Date(exp * 1_000) };
  }

  /** Undefined where it speaks for nobody: not ours, not yet or no longer valid, for others, account gone or another. */
  userOf(token: string, audiences: readonly string[] = [ISSUER]): User | undefined {
    const claims = this.#key.claimsOf(token);
    if (claims === undefined || !this.#isInForce(claims)) return undefined;
    if (!textsAt(claims, 'aud').some((audience) => audiences.includes(audience))) return undefined;
    const own = mapAt(claims, 'kubernetes.io');
    const account = this.#accountOf(own);
    if (account === undefined) return undefined;
    const { name, namespace = '', uid } = account.metadata;
    return {
      username: accountUsername(namespace, name),
      uid,
      groups: [...accountGroups(namespace), AUTHENTICATED],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${textAt(claims, 'jti')}`] },
    };
  }

  #accountOf(own: JsonObject): KubeObject | undefined {
    const claimed = mapAt(own, 'serviceaccount');
    const account = this.#objects.get({
      resource: SERVICE_ACCOUNTS,
      namespace: textAt(own, 'namespace') ?? '',
      name: textAt(claimed, 'name') ?? '',
    });
    const isSame = account !== undefined && account.metadata.uid === claimed['uid'];
    return isSame && !this.#isLongDeleted(account) ? account : undefined;
  }

  #isInForce({ exp, nbf, iss }: JsonObject): boolean {
    const now = this.#surroundings.clock().getTime() / 1_000;
    return iss === ISSUER && typeof exp === 'number' && now < exp && Number(nbf) <= now;
  }

  #isLongDeleted({ metadata }: KubeObject): boolean {
    if (metadata.deletionTimestamp === undefined) return false;
    const deletedMs = Date.parse(metadata.deletionTimestamp);
    return this.#surroundings.clock().getTime() - deletedMs > DELETED_LEEWAY_MS;
  }

  #nowSeconds(): number {
    return Math.floor(this.#surroundings.clock().getTime() / 1_000);
  }
}
