// What a connection's client certificate says, where there is one.

import type { TLSSocket } from 'node:tls';

import type { ClientCertificate } from '../authn/authenticator.ts';

export function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const named = (field: string): readonly string[] =>
    certificate.subject
      .split('\n')
      .filter((line) => line.startsWith(`${field}=`))
      .map((line) => line.slice(field.length + 1));
  return {
    isTrusted: socket.authorized,
    commonName: named('CN')[0] ?? '',
    organizations: named('O'),
    clusterUid: named('OU')[0],
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}
