// A binding as it is handed out: the credential with the kubeconfig rendered from what is true of the cluster now.
import type { Binding } from '../domain/binding.ts';
import type { Instance } from '../domain/instance.ts';
import { renewBefore } from '../domain/renewal.ts';
import { Secret } from '../domain/secret.ts';
import { renderKubeconfig } from '../kubernetes/render-kubeconfig.ts';

export interface HandedOutBinding {
  readonly kubeconfig: Secret;
  readonly server: string;
  /** Base64 of PEM; undefined where the system's roots vouch for the server. */
  readonly certificateAuthorityData: string | undefined;
  readonly token: Secret;
  readonly expiresAt: Date;
  readonly renewBefore: Date;
  /** As the request said it. */
  readonly expirationSeconds: number | undefined;
}

export interface LiveBinding {
  readonly instance: Instance;
  readonly binding: Pick<Binding, 'id' | 'expirationSeconds'>;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly token: Secret;
}

export function handOut({ instance, binding, token, ...lifetime }: LiveBinding): HandedOutBinding {
  const { cluster } = instance;
  if (cluster === undefined) {
    throw new Error(`instance ${instance.key} has a live binding, but no cluster`);
  }
  const { server, certificateAuthorityData, tlsServerName } = cluster;
  const kubeconfig = renderKubeconfig({
    name: instance.name,
    server,
    token,
    ...(certificateAuthorityData === undefined ? {} : { certificateAuthorityData }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
  });
  return {
    kubeconfig: new Secret(kubeconfig),
    server,
    certificateAuthorityData,
    token,
    expiresAt: lifetime.expiresAt,
    renewBefore: renewBefore(binding.id, lifetime),
    expirationSeconds: binding.expirationSeconds,
  };
}
