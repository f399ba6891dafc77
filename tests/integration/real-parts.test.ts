// The real parts themselves: that what tests and the demo stand on is what it claims to be.

import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownCluster, sharedCluster } from '../support/cluster.ts';
import { freshDatabase, ownPostgres } from '../support/database.ts';
import { kubectl } from '../support/kubectl.ts';
import { describeWith } from '../support/needs.ts';
import type { KubeApiserver } from '../support/real-parts/kube-apiserver.ts';
import type { Postgres } from '../support/real-parts/postgres.ts';

describeWith({ cluster: true, kubectl: true }, 'the cluster of the run', () => {
  it('lists its namespaces to an administrator', async () => {
    const result = await kubectl(sharedCluster().adminKubeconfig, [
      'get',
      'namespaces',
      '-o',
      'name',
    ]);
    expect(result).toMatchObject({ status: 0, stderr: '' });
    expect(result.stdout.split('\n')).toEqual(
      expect.arrayContaining(['namespace/default', 'namespace/kube-system']),
    );
  });

  it('forbids everything to an identity without rights', async () => {
    const kubeconfig = await sharedCluster().kubeconfigFor({ commonName: 'no-rights' });
    const result = await kubectl(kubeconfig, ['get', 'namespaces']);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain('(Forbidden): namespaces is forbidden: User "no-rights"');
  });

  it('reads groups from the organizations of a client certificate', async () => {
    const kubeconfig = await sharedCluster().kubeconfigFor({
      commonName: 'somebody',
      organizations: ['readers', 'writers'],
    });
    const result = await kubectl(kubeconfig, [
      'auth',
      'whoami',
      '-o',
      'jsonpath={.status.userInfo.groups}',
    ]);
    expect(result.stdout).toContain('"readers","writers"');
  });
});

describeWith({ ownCluster: true, kubectl: true }, 'a cluster of the test', () => {
  let cluster: KubeApiserver;
  beforeAll(async () => {
    cluster = await ownCluster();
  });
  afterAll(() => cluster.stop());

  const uidOfCluster = async () => {
    const args = ['get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}'];
    const result = await kubectl(cluster.adminKubeconfig, args);
    if (result.status !== 0) throw new Error(result.stderr);
    return result.stdout;
  };

  it('is away when killed, and the same or another cluster when restarted', async () => {
    const uid = await uidOfCluster();
    await cluster.kill();
    await expect(uidOfCluster()).rejects.toThrow('connection refused');
    await cluster.restart();
    expect(await uidOfCluster()).toBe(uid);
    await cluster.restart({ asAnotherCluster: true });
    expect(await uidOfCluster()).not.toBe(uid);
  });
});

describeWith({ postgres: true }, 'databases of the run', () => {
  it('are empty, apart from each other, and gone after drop', async () => {
    const [one, other] = await Promise.all([freshDatabase(), freshDatabase()]);
    await query(one.url, 'create table only_here (id int)');
    await expect(query(other.url, 'select * from only_here')).rejects.toThrow('does not exist');
    await Promise.all([one.drop(), other.drop()]);
    await expect(query(one.url, 'select 1')).rejects.toThrow('does not exist');
  });

  it('are copied from a template where one is named', async () => {
    const template = await freshDatabase();
    await query(template.url, 'create table copied as select 7 as n');
    const copy = await freshDatabase({ template: new URL(template.url).pathname.slice(1) });
    expect(await query(copy.url, 'select n from copied')).toEqual([{ n: 7 }]);
    await Promise.all([template.drop(), copy.drop()]);
  });
});

describeWith({ ownPostgres: true }, 'a PostgreSQL of the test', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await ownPostgres();
  });
  afterAll(() => postgres.stop());

  it('is away when killed, and comes back on its port with all that was committed', async () => {
    await query(postgres.url, 'create table kept as select 1 as n');
    await postgres.kill();
    await expect(query(postgres.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await postgres.restart();
    expect(await query(postgres.url, 'select n from kept')).toEqual([{ n: 1 }]);
  });
});

async function query(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
