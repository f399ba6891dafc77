// What a binding hands out, and whether its token works: asked of the cluster itself, since a broker's word for it is
// what is doubted.

import { request } from 'node:https';
import type { Answer } from './osb-client.ts';

export interface Credentials {
  readonly kubeconfig: string;
  readonly server: string;
  readonly certificate_authority_data?: string;
  readonly token: string;
}

export interface Metadata {
  readonly expires_at: string;
  readonly renew_before: string;
}

export function credentialsOf({ body }: Answer): Credentials {
  return body['credentials'] as Credentials;
}

export function metadataOf({ body }: Answer): Metadata {
  return body['metadata'] as Metadata;
}

/** Something that needs rights: any authenticated caller may discover. */
const NEEDS_RIGHTS = '/api/v1/namespaces/kube-system/secrets?limit=1';

/** Status of the cluster's answer: 200 while the token works, 401 or 403 once it is refused. */
export function statusWithToken(credentials: Credentials): Promise<number> {
  const { server, token, certificate_authority_data: authority } = credentials;
  const url = new URL(server.replace(/\/$/, '') + NEEDS_RIGHTS);
  const options = {
    agent: false,
    headers: { authorization: `Bearer ${token}` },
    ...(authority === undefined ? {} : { ca: Buffer.from(authority, 'base64') }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, (answer) => {
      answer.resume();
      answer.on('error', reject);
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
