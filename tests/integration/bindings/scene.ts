// What every test of bindings starts from: a broker on a database of its own, a real cluster, the clock in the test's
// hand, and eyes on the ledger and on the cluster beside the broker.

import { randomBytes, randomUUID } from 'node:crypto';
import { parse } from 'yaml';
import type { Draw } from '../../../src/broker/broker.ts';
import { type TestBroker, startBroker } from '../../support/broker.ts';
import { sharedCluster, type SharedCluster } from '../../support/cluster.ts';
import {
  type ClusterEyes,
  openClusterEyes,
  type SeenObject,
} from '../../support/cluster-administrator.ts';
import { type FreshDatabase, freshDatabaseOn } from '../../support/database.ts';
import type { Engine } from '../../support/engines-under-test.ts';
import { recordOutput, recordSecret } from '../../support/leak-record.ts';
import { type LedgerEyes, ledgerEyesOf, openLedgerEyes } from '../../support/ledger-dump.ts';
import type { BindingBody, Ids, OsbAnswer, Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';

export interface SceneOptions {
  /** PostgreSQL unless said. On the embedded database there is one broker at a time. */
  readonly engine?: Engine;
  /** Text of the configuration file. */
  readonly configFile?: string;
  readonly draw?: Draw;
  /** The cluster of the run unless said. */
  readonly cluster?: SharedCluster;
  /** The machine's unless said: the cluster stays where it is when time passes for the broker alone. */
  readonly clusterClock?: () => Date;
  /** A fresh one unless said; dropped with the scene. */
  readonly database?: FreshDatabase;
  /** False for a test of states that a reconciler would end. */
  readonly reconciles?: boolean;
}

export interface Attachment {
  readonly instance?: string;
  /** That of the scene's cluster unless said. */
  readonly kubeconfig?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export interface Scene {
  readonly broker: TestBroker;
  readonly platform: Platform;
  readonly ledger: LedgerEyes;
  readonly cluster: SharedCluster;
  readonly eyes: ClusterEyes;
  readonly databaseUrl: string;
  /** What another broker needs in order to open what this one has sealed. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes an instance, and returns its id once it is ready. */
  attach(attachment?: Attachment): Promise<string>;
  /** Moves the broker's clock, and returns once the broker has been seen at the new time. */
  passTime(seconds: number): Promise<void>;
  /** Returns once somebody waits for what becomes of the binding's grant. */
  untilAwaited(binding: string): Promise<void>;
  /** By the broker's clock. */
  now(): Date;
  /**
   * Another broker on the same database and clock; stopped with the scene, or by the test, since it takes part in the
   * work on instances, by its own configuration.
   */
  openReplica(options?: Pick<SceneOptions, 'configFile'>): Promise<TestBroker>;
  /** Accounts, roles and role bindings of this installation on the scene's cluster; of one binding where it is named. */
  objects(binding?: string): Promise<readonly SeenObject[]>;
  close(): Promise<void>;
}

export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const cluster = options.cluster ?? sharedCluster();
  const database = options.database ?? (await freshDatabaseOn(options.engine ?? 'postgres'));
  const env = { ...sealingEnv(), ...database.env };
  const clock = new OwnedClock();
  const given = {
    clock: () => clock.now(),
    clusterClock: options.clusterClock ?? (() => new Date()),
    ...(options.draw === undefined ? {} : { draw: options.draw }),
  };
  const brokers = new Set<TestBroker>();
  const open = async (configFile: string | undefined): Promise<TestBroker> => {
    const file = configFile === undefined ? {} : { configFile };
    const { reconciles = true } = options;
    const settings = { databaseUrl: database.url, env, given, reconciles, ...file };
    const started = await startBroker(settings);
    const opened: TestBroker = {
      ...started,
      async stop() {
        brokers.delete(opened);
        await started.stop();
      },
    };
    brokers.add(opened);
    return opened;
  };
  const broker = await open(options.configFile);
  const ledger =
    options.engine === 'embedded'
      ? ledgerEyesOf(broker.composition.broker)
      : openLedgerEyes(database.url);
  const eyes = openClusterEyes(cluster.adminKubeconfig);
  return {
    broker,
    platform: broker.platform,
    ledger,
    cluster,
    eyes,
    databaseUrl: database.url,
    env,
    attach: ({ instance = randomUUID(), kubeconfig = cluster.adminKubeconfig, parameters } = {}) =>
      attachTo(broker.platform, { instance, kubeconfig, parameters: parameters ?? {} }),
    async passTime(seconds) {
      clock.pass(seconds);
      await Promise.all([...brokers].map((each) => untilSeen(ledger, each, clock.now())));
    },
    untilAwaited: (binding) => untilAwaited(ledger, binding),
    now: () => clock.now(),
    openReplica: ({ configFile } = {}) => open(configFile),
    objects: (binding) => objectsOf({ broker, eyes }, binding),
    close: () => closeAll([...brokers], { ledger, eyes, database }),
  };
}

/** Goes on like any clock, but from where the test has put it. */
class OwnedClock {
  #offsetMs = 0;

  now(): Date {
    return new Date(Date.now() + this.#offsetMs);
  }

  pass(seconds: number): void {
    this.#offsetMs += seconds * 1000;
  }
}

function sealingEnv(): Readonly<Record<string, string>> {
  const key = randomBytes(32).toString('base64');
  recordSecret('sealing key', key);
  return { RUNTIME_BROKER_SEALING_KEYS: `scene:${key}` };
}

/** An own cluster is ready within a second; the limit is for a machine that is busy with other tests. */
const READY_LIMIT_MS = 20_000;

async function attachTo(
  platform: Platform,
  { instance, kubeconfig, parameters }: Required<Attachment>,
): Promise<string> {
  const accepted = await platform.provision({ instance }, kubeconfig, parameters);
  if (accepted.status !== 202) {
    throw new Error(`the cluster was not attached: ${JSON.stringify(accepted.body)}`);
  }
  await untilOperationEnds(platform, { instance }, 'succeeded');
  return instance;
}

/** Returns once the instance's latest operation has ended like that. */
export async function untilOperationEnds(
  platform: Platform,
  ids: Ids,
  state: 'succeeded' | 'failed',
): Promise<void> {
  let seen: unknown;
  await until({
    what: `the operation has ${state}`,
    limitMs: READY_LIMIT_MS,
    isSo: async () => {
      seen = (await platform.lastOperation(ids)).body;
      return (seen as { state: string }).state === state;
    },
    isHopeless: () => {
      const { state: found = 'in progress' } = (seen ?? {}) as { state?: string };
      return found === 'in progress' || found === state ? null : JSON.stringify(seen);
    },
  });
}

/** A beat comes each two seconds; until then the others, and the broker itself, take it for dead. */
const BEAT_LIMIT_MS = 20_000;

async function untilSeen(ledger: LedgerEyes, broker: TestBroker, since: Date): Promise<void> {
  const { replicaId } = broker.composition.broker;
  await until({
    what: 'the broker was seen at its new time',
    limitMs: BEAT_LIMIT_MS,
    isSo: async () => {
      const text = 'select 1 as seen from replicas where id = $1 and seen_at >= $2';
      return (await ledger.sql(text, [replicaId, since])).length > 0;
    },
  });
}

/** A request arrives, decides and marks within milliseconds; the limit is for a machine that is busy with other tests. */
const AWAITED_LIMIT_MS = 10_000;

async function untilAwaited(ledger: LedgerEyes, binding: string): Promise<void> {
  const text =
    'select 1 from grants g join bindings b on b.current_grant = g.id where b.id = $1 and g.awaited';
  await until({
    what: 'the grant is awaited',
    limitMs: AWAITED_LIMIT_MS,
    isSo: async () => (await ledger.sql(text, [binding])).length > 0,
  });
}

async function objectsOf(
  { broker, eyes }: Pick<Scene, 'broker' | 'eyes'>,
  binding: string | undefined,
): Promise<readonly SeenObject[]> {
  const { installation } = broker.composition.broker.marker();
  const objects = await eyes.objectsOf(installation);
  return binding === undefined
    ? objects
    : objects.filter(
        ({ metadata }) => metadata.annotations?.['runtime-broker/binding-id'] === binding,
      );
}

async function closeAll(
  brokers: readonly TestBroker[],
  { ledger, eyes, database }: Pick<Scene, 'ledger' | 'eyes'> & { readonly database: FreshDatabase },
): Promise<void> {
  // A PostgreSQL is dumped as it is dropped; of the other nobody can ask once the broker has closed it.
  if (database.url === '') recordOutput('database dump', JSON.stringify(await ledger.dump()));
  await Promise.all(brokers.map((broker) => broker.stop()));
  await Promise.all([ledger.close(), eyes.close()]);
  await database.drop();
}

/** All at the same time, dealt out to the platforms in turn; answers in the order of the ids. */
export function bindTogether(
  platforms: readonly Platform[],
  all: readonly Ids[],
): Promise<OsbAnswer<BindingBody>[]> {
  const binds = all.map((ids, at) => platforms[at % platforms.length]?.bind(ids));
  return Promise.all(binds.filter((bind) => bind !== undefined));
}

/** An id that no other test of the run has, and that says what it is for. */
export function newId(word: string): string {
  return `${word}-${randomBytes(5).toString('hex')}`;
}

/** The content of a kubeconfig with one cluster, one context and one user. */
export interface KubeconfigContent {
  readonly clusters: readonly { readonly name: string; readonly cluster: unknown }[];
  readonly contexts: readonly { readonly name: string; readonly context: unknown }[];
  readonly users: readonly { readonly name: string; readonly user: unknown }[];
  readonly 'current-context': string;
}

export function parseKubeconfig(text: string): KubeconfigContent {
  return parse(text) as KubeconfigContent;
}

/** What a JWT says; its signature is the cluster's business. */
export function claimsOf(token: string): {
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
} {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as ReturnType<
    typeof claimsOf
  >;
}
