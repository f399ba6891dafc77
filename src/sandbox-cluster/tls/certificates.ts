// Makes the certificates of a sandbox: its authority, its server's, and those of clients. The package that can is
// loaded only when one is to be made, which a later start does not need.

import { webcrypto } from 'node:crypto';
import type * as X509 from '@peculiar/x509';

import type { Draw } from '../api/surroundings.ts';
import type { KeyPair } from '../store/sandbox-store.ts';

export interface ClientIdentity {
  /** The name of the user. */
  readonly commonName: string;
  /** The groups of the user. */
  readonly organizations: readonly string[];
  /** The cluster that it is for. */
  readonly clusterUid: string;
}

export interface CertificateOrder {
  readonly now: Date;
  readonly draw: Draw;
}

/** Any curve would do that Go and Node both speak. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

const DAY_MS = 86_400_000;

/** A laptop's sandbox is thrown away long before. */
const LIFETIME_MS = 3_650 * DAY_MS;

/** A clock that is set back after the first start must not make it unusable. */
const BEFORE_MS = DAY_MS;

type X509Module = typeof X509;

async function load(): Promise<X509Module> {
  // A dependency of the other refuses to load without.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

export async function makeAuthority(order: CertificateOrder): Promise<KeyPair> {
  const x509 = await load();
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(order),
    name: [{ CN: ['runtime-broker sandbox'] }],
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
  return { certPem: certificate.toString('pem'), keyPem: await pemOf(x509, keys.privateKey) };
}

/** `names`: host names and IP addresses. */
export async function makeServerCertificate(
  authority: KeyPair,
  names: readonly string[],
  order: CertificateOrder,
): Promise<KeyPair> {
  const x509 = await load();
  const alternatives = names.map(
    (value) => ({ type: isAddress(value) ? 'ip' : 'dns', value }) as const,
  );
  return issue(x509, authority, {
    ...validity(order),
    subject: [{ CN: ['sandbox'] }],
    extensions: [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(alternatives),
    ],
  });
}

export async function makeClientCertificate(
  authority: KeyPair,
  identity: ClientIdentity,
  order: CertificateOrder,
): Promise<KeyPair> {
  const x509 = await load();
  const { commonName, organizations, clusterUid } = identity;
  const subject = [
    ...organizations.map((organization) => ({ O: [organization] })),
    { OU: [clusterUid] },
    { CN: [commonName] },
  ];
  const extensions = [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])];
  return issue(x509, authority, { ...validity(order), subject, extensions });
}

type Leaf = Validity & {
  readonly subject: X509.JsonName;
  readonly extensions: readonly X509.Extension[];
};

async function issue(x509: X509Module, authority: KeyPair, leaf: Leaf): Promise<KeyPair> {
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(authority.certPem);
  const certificate = await x509.X509CertificateGenerator.create({
    ...leaf,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(x509, authority.keyPem),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...leaf.extensions,
    ],
  });
  return { certPem: certificate.toString('pem'), keyPem: await pemOf(x509, keys.privateKey) };
}

interface Validity {
  readonly serialNumber: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

function validity({ now, draw }: CertificateOrder): Validity {
  return {
    // A positive integer in hex: below 8 the highest bit stays clear.
    serialNumber: `1${draw.uuid().replaceAll('-', '').slice(1)}`,
    notBefore: new Date(now.getTime() - BEFORE_MS),
    notAfter: new Date(now.getTime() + LIFETIME_MS),
  };
}

function isAddress(name: string): boolean {
  return /^[\d.]+$/.test(name) || name.includes(':');
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function signingKeyOf(x509: X509Module, pem: string): Promise<webcrypto.CryptoKey> {
  const der = x509.PemConverter.decodeFirst(pem);
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, true, ['sign']);
}

async function pemOf(x509: X509Module, key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
