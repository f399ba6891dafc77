// A kubeconfig is taken by its words alone, before any cluster is asked: whatever could run a program, read a file or
// weaken TLS on the broker's side is refused with 400 that names the field, and nothing is made
// (docs/api.md, "Attach a cluster"). Which addresses may be called is in addresses.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { type SharedCluster, sharedCluster } from '../../support/cluster.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { aroundLedger, type LedgerEyes, openLedgerEyes } from '../../support/ledger-dump.ts';
import { describeWith } from '../../support/needs.ts';
import { changedKubeconfig, drawToken, type KubeconfigParts } from './attached-cluster.ts';
import { operationEnded } from './waits.ts';

/** Answers of no value: what must not come back. */
const SESAME = 'open-sesame';

type Change = (parts: KubeconfigParts) => void;

const inCluster = (field: string, value: unknown): Change => {
  return ({ cluster }) => void Object.assign(cluster, { [field]: value });
};
const inUser = (field: string, value: unknown): Change => {
  return ({ user }) => void Object.assign(user, { [field]: value });
};
const inContext = (field: string, value: unknown): Change => {
  return ({ context }) => void Object.assign(context, { [field]: value });
};
const inFile = (field: string, value: unknown): Change => {
  return ({ file }) => void Object.assign(file, { [field]: value });
};

/** What is wrong, how it gets there, and what the answer names. */
const FIELDS: readonly (readonly [string, Change, string])[] = [
  ['a program that makes credentials', inUser('exec', { command: SESAME }), 'users[].user.exec'],
  ['a provider of credentials', inUser('auth-provider', { name: SESAME }), 'auth-provider'],
  ['a file with a token', inUser('tokenFile', SESAME), 'users[].user.tokenFile'],
  ['a file with a certificate', inUser('client-certificate', SESAME), 'user.client-certificate'],
  ['a file with a key', inUser('client-key', SESAME), 'users[].user.client-key'],
  ['a user name', inUser('username', SESAME), 'users[].user.username'],
  ['a password', inUser('password', SESAME), 'users[].user.password'],
  ['impersonation', inUser('as', SESAME), 'users[].user.as'],
  ['impersonation of groups', inUser('as-groups', [SESAME]), 'users[].user.as-groups'],
  ['a token next to a certificate', inUser('token', SESAME), 'users[].user must have either'],
  ['a file with a CA', inCluster('certificate-authority', SESAME), 'cluster.certificate-authority'],
  ['TLS without a check', inCluster('insecure-skip-tls-verify', true), 'insecure-skip-tls-verify'],
  ['a proxy', inCluster('proxy-url', SESAME), 'clusters[].cluster.proxy-url'],
  ['a CA that is none', inCluster('certificate-authority-data', 'bm9uZQ=='), 'authority-data'],
  ['a CA that is not base64', inCluster('certificate-authority-data', SESAME), 'is not base64'],
  ['a server without TLS', inCluster('server', `http://${SESAME}`), 'clusters[].cluster.server'],
  ['a server with a user', inCluster('server', `https://u@${SESAME}`), 'cluster.server'],
  ['a server with a query', inCluster('server', `https://${SESAME}/?a`), 'cluster.server'],
  ['no server', inCluster('server', null), 'clusters[].cluster.server is missing'],
  ['a name for TLS that is none', inCluster('tls-server-name', `${SESAME}/`), 'tls-server-name'],
  ['no current context', inFile('current-context', ''), 'current-context is missing'],
  ['a current context that is not there', inFile('current-context', SESAME), 'current-context'],
  ['a cluster that is not there', inContext('cluster', SESAME), 'contexts[].context.cluster'],
  ['a user that is not there', inContext('user', SESAME), 'contexts[].context.user'],
  ['a field that no kubeconfig has', inFile('include', SESAME), 'include is not allowed'],
  ['another kind', inFile('kind', SESAME), 'kind must be Config'],
  ['another version', inFile('apiVersion', SESAME), 'apiVersion must be v1'],
  ['no users', inFile('users', null), 'users is missing'],
];

const TEXTS: readonly (readonly [string, unknown, string])[] = [
  ['missing', undefined, 'kubeconfig'],
  ['null', null, 'kubeconfig'],
  ['an object', { apiVersion: 'v1' }, 'kubeconfig'],
  ['empty', '', 'kubeconfig'],
  ['no map', 'just words', 'kubeconfig'],
  ['no YAML', 'a: [', 'kubeconfig'],
  ['two documents', 'a: 1\n---\na: 2', 'kubeconfig'],
  ['a key twice', 'kind: Config\nkind: Config', 'kubeconfig'],
  ['a bomb of aliases', aliasBomb(), 'kubeconfig'],
  ['deeply nested', '['.repeat(20_000), 'kubeconfig'],
  ['longer than 64 KiB', `a: ${'x'.repeat(64 * 1024)}`, 'kubeconfig'],
];

const PARAMETERS: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
  ['a key that the plan does not know', { machineType: 'm5' }, 'machineType'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 65 characters', { name: 'n'.repeat(65) }, 'name'],
  ['a name with other characters', { name: 'a_b' }, 'name'],
  ['a name that is a number', { name: 7 }, 'name'],
  ['an empty region', { region: '' }, 'region'],
];

describeWith({ postgres: true, cluster: true }, 'provisioning with parameters that', () => {
  let database: FreshDatabase;
  let cluster: SharedCluster;
  let broker: TestBroker;
  let ledger: LedgerEyes;

  beforeAll(async () => {
    cluster = sharedCluster();
    database = await freshDatabase();
    broker = await startBroker({ databaseUrl: database.url });
    ledger = openLedgerEyes(database.url);
  });

  afterAll(async () => {
    await broker.stop();
    await ledger.close();
    await database.drop();
  });

  it.each(FIELDS)('have %s in the kubeconfig is refused', async (_, change, named) => {
    const kubeconfig = changedKubeconfig(cluster.adminKubeconfig, change);
    expect(await expectRefusal({ kubeconfig })).toContain(named);
  });

  it('have the key of another certificate in the kubeconfig is refused', async () => {
    const other = await cluster.kubeconfigFor({ commonName: 'another' });
    const kubeconfig = changedKubeconfig(cluster.adminKubeconfig, ({ user }) => {
      changedKubeconfig(other, (parts) => {
        user['client-key-data'] = parts.user['client-key-data'];
      });
    });
    expect(await expectRefusal({ kubeconfig })).toContain('users[].user.client-key-data');
  });

  it('have a token that could end a header in the kubeconfig is refused', async () => {
    const kubeconfig = changedKubeconfig(cluster.adminKubeconfig, ({ file }) => {
      file.users = file.users.map(({ name }) => ({ name, user: { token: 'a\r\nb: c' } }));
    });
    expect(await expectRefusal({ kubeconfig })).toContain('users[].user.token');
  });

  it.each(TEXTS)('have a kubeconfig that is %s are refused', async (_, kubeconfig, named) => {
    expect(await expectRefusal({ kubeconfig })).toContain(named);
  });

  it.each(PARAMETERS)('C65: have %s are refused', async (_, parameters, named) => {
    const kubeconfig = cluster.adminKubeconfig;
    expect(await expectRefusal({ kubeconfig, ...parameters })).toContain(named);
  });

  it('have what is ignored, and entries that nobody refers to, are accepted', async () => {
    const kubeconfig = changedKubeconfig(cluster.adminKubeconfig, ({ file, ...parts }) => {
      Object.assign(file, { preferences: {}, extensions: [] });
      Object.assign(parts.cluster, { 'disable-compression': true, extensions: [] });
      Object.assign(parts.context, { namespace: 'default' });
      file.users.push({ name: 'unused', user: { exec: { command: 'sh' }, token: drawToken() } });
      file.clusters.push({ name: 'unused', cluster: { 'proxy-url': 'http://127.0.0.1:1' } });
    });
    const ids = { instance: 'ignored' };
    expect((await broker.platform.provision(ids, kubeconfig)).status).toBe(202);
    expect(await operationEnded(broker.platform, ids)).toBe('succeeded');
  });

  /** @returns the description, which repeats no value */
  async function expectRefusal(parameters: Readonly<Record<string, unknown>>): Promise<string> {
    const { kubeconfig, ...others } = parameters;
    const ids = { instance: 'refused' };
    const { answer, before, after } = await aroundLedger(ledger, () =>
      broker.platform.provision(ids, kubeconfig as string, others),
    );
    expect(answer.status).toBe(400);
    expect(after).toEqual(before);
    const description = String(answer.body['description']);
    expect(description).not.toContain(SESAME);
    return description;
  }
});

/** Nine levels of nine aliases each. */
function aliasBomb(): string {
  const lines = ['a0: &a0 lol'];
  for (let level = 1; level <= 9; level += 1) {
    const aliases = Array.from({ length: 9 }, () => `*a${level - 1}`);
    lines.push(`a${level}: &a${level} [${aliases.join(', ')}]`);
  }
  return lines.join('\n');
}
