// A cluster whose certificate the system's roots vouch for: its kubeconfig names no authority, and the binding's names
// none either. And one whose first entry is not the current one (KEB defect 19). The roots are Node's, so the broker is
// a process of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type BrokerProcess, startBrokerProcess } from '../../support/broker-process.ts';
import { sharedCluster, type SharedCluster } from '../../support/cluster.ts';
import { type ClusterEyes, openClusterEyes } from '../../support/cluster-administrator.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWith } from '../../support/needs.ts';
import { newId, parseKubeconfig, untilOperationEnds } from './scene.ts';

interface AdminFile {
  readonly clusters: { name: string; cluster: Record<string, unknown> }[];
  readonly [field: string]: unknown;
}

describeWith({ postgres: true, cluster: true }, 'a kubeconfig without an authority', () => {
  let folder: string;
  let database: FreshDatabase;
  let cluster: SharedCluster;
  let eyes: ClusterEyes;
  let broker: BrokerProcess;

  beforeAll(async () => {
    cluster = sharedCluster();
    eyes = openClusterEyes(cluster.adminKubeconfig);
    folder = mkdtempSync(join(tmpdir(), 'runtime-broker-roots-'));
    const roots = join(folder, 'roots.pem');
    writeFileSync(roots, cluster.authority.certPem);
    database = await freshDatabase();
    broker = await startBrokerProcess({
      databaseUrl: database.url,
      env: { NODE_EXTRA_CA_CERTS: roots },
    });
  });

  afterAll(async () => {
    await broker.end('SIGTERM');
    await Promise.all([database.drop(), eyes.close()]);
    rmSync(folder, { recursive: true });
  });

  async function bindThrough(change: (file: AdminFile) => AdminFile) {
    const ids = { instance: newId('instance'), binding: newId('binding') };
    const kubeconfig = stringify(change(parse(cluster.adminKubeconfig) as AdminFile));
    const accepted = await broker.platform.provision(ids, kubeconfig);
    expect(accepted.status).toBe(202);
    await untilOperationEnds(broker.platform, ids, 'succeeded');
    const bound = await broker.platform.bind(ids);
    expect(bound.status).toBe(201);
    expect(await eyes.statusWith(bound.body.credentials.token)).toBe(200);
    expect((await broker.platform.getBinding(ids)).body.credentials).toEqual(
      bound.body.credentials,
    );
    expect((await broker.platform.unbind(ids)).status).toBe(200);
    return bound.body.credentials;
  }

  it('KEB defect 19: one without an authority is issued from, and the binding names no authority either', async () => {
    const credentials = await bindThrough((file) => ({
      ...file,
      clusters: file.clusters.map(({ name }) => ({ name, cluster: { server: cluster.server } })),
    }));
    expect(Object.keys(credentials).sort()).toEqual(['kubeconfig', 'server', 'token']);
    expect(parseKubeconfig(credentials.kubeconfig).clusters).toEqual([
      { name: 'runtime', cluster: { server: cluster.server } },
    ]);
  });

  it('KEB defect 19: the current context counts, not the first cluster of the file', async () => {
    const credentials = await bindThrough((file) => ({
      ...file,
      clusters: [
        { name: 'first', cluster: { server: 'https://first.example.invalid' } },
        ...file.clusters,
      ],
    }));
    expect(credentials.server).toBe(cluster.server);
  });
});
