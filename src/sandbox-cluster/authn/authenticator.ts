// Finds out who calls: by client certificate, by the administrator's token, by a service account's token, else nobody.

import { createHash, timingSafeEqual } from 'node:crypto';

import type { Clock } from '../api/surroundings.ts';
import { ANONYMOUS, AUTHENTICATED, MASTERS, type User } from '../api/user.ts';
import type { AccountTokens } from './account-tokens.ts';

/** What a connection and a request bring along. */
export interface Credentials {
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
  /** Undefined where there is none. */
  readonly certificate: ClientCertificate | undefined;
}

/** Of a connection whose client has shown that it has the key. */
export interface ClientCertificate {
  /** Whether our authority has issued it, and it is in force. */
  readonly isTrusted: boolean;
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The uid of the one cluster that it is for: all clusters of a sandbox have one authority. */
  readonly clusterUid: string | undefined;
  /** SHA-256, in hex. */
  readonly fingerprint: string;
}

/** As long as kube-apiserver remembers whom a token spoke for, whatever becomes of the account meanwhile. */
const REMEMBERED_MS = 10_000;

/** A cluster has far fewer tokens in use; whoever sends that many is forgotten all the same. */
const MAX_REMEMBERED = 4_096;

interface Remembered {
  readonly user: User;
  readonly untilMs: number;
}

export class Authenticator {
  readonly #tokens: AccountTokens;
  readonly #adminToken: string;
  readonly #clusterUid: () => string;
  readonly #clock: Clock;
  readonly #remembered = new Map<string, Remembered>();

  constructor(parts: {
    readonly tokens: AccountTokens;
    readonly adminToken: string;
    readonly clusterUid: () => string;
    readonly clock: Clock;
  }) {
    this.#tokens = parts.tokens;
    this.#adminToken = parts.adminToken;
    this.#clusterUid = parts.clusterUid;
    this.#clock = parts.clock;
  }

  /** Undefined where the credentials are bad; without any, the anonymous user. */
  userOf({ authorization, certificate }: Credentials): User | undefined {
    if (certificate?.isTrusted === true && certificate.clusterUid === this.#clusterUid()) {
      return userOfCertificate(certificate);
    }
    const token = /^bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token !== undefined) return this.userOfToken(token);
    return certificate === undefined ? ANONYMOUS : undefined;
  }

  /** From memory where it was asked within ten seconds, as kube-apiserver does. */
  userOfToken(token: string): User | undefined {
    if (isSameText(token, this.#adminToken)) return ADMINISTRATOR;
    const key = createHash('sha256').update(token).digest('base64url');
    const nowMs = this.#clock().getTime();
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined && nowMs < remembered.untilMs) return remembered.user;
    const user = this.#tokens.userOf(token);
    this.#remembered.delete(key);
    // What is refused is looked at anew each time.
    if (user !== undefined) this.#remember(key, { user, untilMs: nowMs + REMEMBERED_MS });
    return user;
  }

  #remember(key: string, entry: Remembered): void {
    this.#remembered.set(key, entry);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) {
      this.#remembered.delete(oldest);
    }
  }
}

const ADMINISTRATOR: User = {
  username: 'sandbox-admin',
  groups: [MASTERS, AUTHENTICATED],
};

function userOfCertificate(certificate: ClientCertificate): User {
  return {
    username: certificate.commonName,
    groups: [...certificate.organizations, AUTHENTICATED],
    extra: {
      'authentication.kubernetes.io/credential-id': [`X509SHA256=${certificate.fingerprint}`],
    },
  };
}

function isSameText(a: string, b: string): boolean {
  const [hashA, hashB] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return hashA !== undefined && hashB !== undefined && timingSafeEqual(hashA, hashB);
}
