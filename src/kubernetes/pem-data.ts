// Certificates and keys as a kubeconfig carries them: base64 of PEM. They are really parsed, so that a fault is a
// sentence for whoever sent it and not a failed handshake later.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

import { KubeconfigFormError } from './kubeconfig-yaml.ts';

/** At least one, in the order of the text. `where` is the field, for the error. */
export function checkCertificates(
  data: string,
  where: string,
): readonly [X509Certificate, ...X509Certificate[]] {
  const blocks = decodeBase64(data, where).match(PEM_BLOCK) ?? [];
  const [first, ...others] = blocks.map((block) => parseCertificate(block, where));
  if (first === undefined) throw new KubeconfigFormError(`${where} holds no PEM certificate`);
  return [first, ...others];
}

/** The key must be the certificate's. */
export function checkClientKey(data: string, certificate: X509Certificate, where: string): void {
  const key = parseKey(decodeBase64(data, where), where);
  if (!certificate.checkPrivateKey(key)) {
    throw new KubeconfigFormError(`${where} is not the key of the client certificate`);
  }
}

const PEM_BLOCK = /-----BEGIN [A-Z0-9 ]+-----[^-]*-----END [A-Z0-9 ]+-----/g;

/** Standard alphabet, padded; line breaks may be anywhere, as in Go's decoder, which kubectl uses. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decodeBase64(data: string, where: string): string {
  const compact = data.replace(/[\r\n]/g, '');
  if (!BASE64.test(compact)) throw new KubeconfigFormError(`${where} is not base64`);
  return Buffer.from(compact, 'base64').toString('utf8');
}

function parseCertificate(pem: string, where: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new KubeconfigFormError(`${where} holds something that is no certificate`);
  }
}

function parseKey(pem: string, where: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    throw new KubeconfigFormError(`${where} is not an unencrypted PEM private key`);
  }
}
