// Sets the stage: the servers, the broker, and what speaks to them. Everything that is started is handed to the
// unwinding at once, so that it goes whatever comes after.

import { type BrokerProcess, startBroker } from './broker-process.ts';
import type { Environment } from './environment.ts';
import { Kubectl } from './kubectl.ts';
import type { Listener } from './listen-addresses.ts';
import type { Narration } from './narration.ts';
import { Osb } from './osb.ts';
import { openOwnFolder, type OwnFolder } from './own-folder.ts';
import type { RealParts } from './real-parts.ts';
import { type Cluster, openCluster, startDatabase } from './servers.ts';
import type { Started, Unwinding } from './unwinding.ts';

export interface Setting {
  readonly parts: RealParts;
  readonly listeners: readonly Listener[];
  readonly env: Environment;
  readonly narration: Narration;
  readonly unwinding: Unwinding;
  readonly interruption: AbortSignal;
}

export interface Stage extends Setting {
  readonly folder: OwnFolder;
  readonly cluster: Cluster;
  readonly broker: BrokerProcess;
  readonly osb: Osb;
  readonly kubectl: Kubectl;
}

export async function setStage(setting: Setting): Promise<Stage> {
  const { parts, listeners, env, narration, unwinding, interruption } = setting;
  narration.heading('Around the broker');
  const folder = openOwnFolder(env);
  unwinding.push({
    title: 'Remove the demo’s files',
    run: () => Promise.resolve(folder.remove()),
  });
  const databaseUrl = await start(setting, DATABASE_TITLES[parts.database.kind], () =>
    startDatabase(parts.database),
  );
  const cluster = await start(setting, CLUSTER_TITLES[parts.cluster.kind], () =>
    openCluster(parts.cluster, folder),
  );
  const broker = await start(setting, 'Start the broker, as a process of its own', () =>
    startBroker({ databaseUrl, listeners, folder, env }),
  );
  narration.details([
    `for platforms ${broker.publicUrl}, for operators ${broker.operatorUrl}`,
    `its log is ${folder.shown(broker.logFile)}`,
  ]);
  const osb = new Osb({ url: broker.publicUrl, password: broker.password, signal: interruption });
  const kubectl = new Kubectl(parts.kubectl, folder);
  return { ...setting, folder, cluster, broker, osb, kubectl };
}

const DATABASE_TITLES = {
  programs: 'Start PostgreSQL, for as long as the demo runs',
  server: 'Make a database, for as long as the demo runs',
} as const;

const CLUSTER_TITLES = {
  programs: 'Start a Kubernetes API server, for as long as the demo runs',
  attached: 'Read the kubeconfig',
} as const;

async function start<T>(
  { narration, unwinding, interruption }: Setting,
  title: string,
  begin: () => Promise<Started<T>>,
): Promise<T> {
  interruption.throwIfAborted();
  const { what, undo } = await narration.step(title, begin);
  if (undo !== undefined) unwinding.push(undo);
  return what;
}
