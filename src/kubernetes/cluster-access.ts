// What is needed to reach a cluster with admin rights: address, CA and one credential.
// Where it comes from is left to readKubeconfig and the provisioners; sealing it at rest is left to storage.

import { isDeepStrictEqual } from 'node:util';

import { Secret } from '../domain/secret.ts';

export type ClusterCredential =
  | { readonly kind: 'token'; readonly token: Secret }
  | {
      readonly kind: 'certificate';
      /** Base64 of PEM; the first certificate is the client's, more are its chain. */
      readonly certificateData: string;
      /** Base64 of PEM, not encrypted. */
      readonly keyData: Secret;
    };

export interface ClusterAccess {
  /** `https://host[:port][/path]`, as the kubeconfig has it. */
  readonly server: string;
  /** Base64 of PEM, as in a kubeconfig; absent: the roots that Node trusts. */
  readonly certificateAuthorityData?: string;
  /** The name that the server's certificate must carry where it is not the host of `server`. */
  readonly tlsServerName?: string;
  readonly credential: ClusterCredential;
}

/** Whether both reach the same address with the same trust and the same credential. */
export function sameAccess(a: ClusterAccess, b: ClusterAccess): boolean {
  return a === b || isDeepStrictEqual(toPlain(a), toPlain(b));
}

/** JSON text with the credential in clear: for sealing, and for nothing else. */
export function serializeAccess(access: ClusterAccess): string {
  return JSON.stringify(toPlain(access));
}

/** The reverse of serializeAccess; any other text is a bug of ours or a damaged row, and throws. */
export function parseAccess(text: string): ClusterAccess {
  const plain = JSON.parse(text) as Partial<PlainAccess>;
  if (typeof plain.server !== 'string' || plain.credential === undefined) {
    throw new TypeError('this is not a serialized cluster access');
  }
  const { credential, ...address } = plain as PlainAccess;
  return {
    ...address,
    credential:
      credential.kind === 'token'
        ? { kind: 'token', token: new Secret(credential.token) }
        : { ...credential, keyData: new Secret(credential.keyData) },
  };
}

/** ClusterAccess with its secrets in clear. */
interface PlainAccess {
  readonly server: string;
  readonly certificateAuthorityData?: string;
  readonly tlsServerName?: string;
  readonly credential:
    | { readonly kind: 'token'; readonly token: string }
    | {
        readonly kind: 'certificate';
        readonly certificateData: string;
        readonly keyData: string;
      };
}

function toPlain({ credential, ...address }: ClusterAccess): PlainAccess {
  return {
    ...address,
    credential:
      credential.kind === 'token'
        ? { kind: 'token', token: credential.token.reveal() }
        : { ...credential, keyData: credential.keyData.reveal() },
  };
}
