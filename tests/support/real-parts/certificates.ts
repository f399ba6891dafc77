// Makes the certificates of a test cluster: its authority, the server's, and one per client identity.

import './class-metadata.ts';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface KeyPair {
  readonly certPem: string;
  /** PKCS #8. */
  readonly keyPem: string;
}

/** What Kubernetes reads from a client certificate: the common name is the user, each organization a group. */
export interface ClientIdentity {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** As clusters have it; any curve that Go and Node both speak would do. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

const DAY_MS = 86_400_000;

/** A cluster lives for minutes; a day on both sides bears a clock that jumps. */
const VALIDITY_MS = DAY_MS;

const SERIAL_BYTES = 16;

export async function createAuthority(commonName: string): Promise<KeyPair> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: [{ CN: [commonName] }],
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: certificate.toString('pem'), keyPem: await privatePem(keys.privateKey) };
}

/** A server certificate for DNS names and IP addresses. */
export function issueServerCertificate(
  authority: KeyPair,
  names: { readonly dns: readonly string[]; readonly ip: readonly string[] },
): Promise<KeyPair> {
  return issue(
    authority,
    [{ CN: ['kube-apiserver'] }],
    [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...names.dns.map((value) => ({ type: 'dns' as const, value })),
        ...names.ip.map((value) => ({ type: 'ip' as const, value })),
      ]),
    ],
  );
}

export function issueClientCertificate(
  authority: KeyPair,
  identity: ClientIdentity,
): Promise<KeyPair> {
  const groups = (identity.organizations ?? []).map((organization) => ({ O: [organization] }));
  return issue(
    authority,
    [...groups, { CN: [identity.commonName] }],
    [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
  );
}

/** A private key alone, in PKCS #8, for signing service account tokens; RSA, as most clusters have it. */
export async function createSigningKey(): Promise<string> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  return privatePem(keys.privateKey);
}

async function issue(
  authority: KeyPair,
  subject: x509.JsonName,
  extensions: readonly x509.Extension[],
): Promise<KeyPair> {
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(authority.certPem);
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(),
    subject,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await privateKey(authority.keyPem),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...extensions,
    ],
  });
  return { certPem: certificate.toString('pem'), keyPem: await privatePem(keys.privateKey) };
}

function validity(): { serialNumber: string; notBefore: Date; notAfter: Date } {
  const now = Date.now();
  const serial = randomBytes(SERIAL_BYTES);
  // A serial number is a positive integer: the highest bit stays clear.
  serial.writeUInt8(serial.readUInt8(0) & 0x7f, 0);
  return {
    serialNumber: serial.toString('hex'),
    notBefore: new Date(now - VALIDITY_MS),
    notAfter: new Date(now + VALIDITY_MS),
  };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function privateKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = x509.PemConverter.decodeFirst(pem);
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, true, ['sign']);
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
