// Which brokers the suite runs against: the one that the environment names; where it names none, one that is started on
// the embedded default, and one on PostgreSQL where this machine has it.

import { inject } from 'vitest';
import { openLedger } from './ledger.ts';
import { OsbClient } from './osb-client.ts';
import { startOnEmbedded, startOnPostgres, type StartedBroker } from './started-broker.ts';
import { type Offer, Subject } from './subject.ts';

export interface Target {
  /** Says too why it cannot be run against, where that is so. */
  readonly name: string;
  readonly isThere: boolean;
  /** False where the broker is somebody else's to restart. */
  readonly isOurs: boolean;
  open(): Promise<OpenTarget>;
}

export interface OpenTarget {
  readonly subject: Subject;
  close(): Promise<void>;
}

/** By name, the plan that needs no cluster; it is offered where nothing is configured. */
const SANDBOX = 'sandbox';

/** By name, the plan that attaches a cluster. */
const OWN_CLUSTER = 'own_cluster';

/** The two mounts of SAP's platforms (docs/api.md), beside the one that OSB names. */
const PREFIXES = ['', '/oauth', '/oauth/cf-us10'] as const;

export function targets(env: NodeJS.ProcessEnv): readonly Target[] {
  const url = env['OSB_URL'];
  return url === undefined || url === ''
    ? [embedded(), onPostgres()]
    : [
        {
          name: `the broker at ${url}`,
          isThere: true,
          isOurs: false,
          open: () => openGiven(url, env),
        },
      ];
}

function embedded(): Target {
  return {
    name: 'the embedded default',
    isThere: true,
    isOurs: true,
    open: async () => await openStarted(await startOnEmbedded()),
  };
}

function onPostgres(): Target {
  const { postgres, cluster } = inject('parts');
  const lacks = [
    ...(postgres.found ? [] : ['PostgreSQL']),
    ...(cluster.found ? [] : ['a real kube-apiserver']),
  ];
  return {
    name: `PostgreSQL, with an attached cluster${lacks.length === 0 ? '' : ` (skipped, this machine lacks ${lacks.join(' and ')})`}`,
    isThere: lacks.length === 0,
    isOurs: true,
    open: async () => await openStarted(await startOnPostgres(postgres.found ? postgres.url : '')),
  };
}

async function openStarted(broker: StartedBroker): Promise<OpenTarget> {
  const ledger = broker.databaseUrl === undefined ? undefined : openLedger(broker.databaseUrl);
  const osb = new OsbClient({ ...broker, ledger });
  return {
    subject: new Subject({
      osb,
      offer: await offerOf(osb),
      prefixes: PREFIXES,
      restart: () => broker.restart(),
    }),
    async close() {
      await ledger?.close();
      await broker.stop();
    },
  };
}

async function openGiven(url: string, env: NodeJS.ProcessEnv): Promise<OpenTarget> {
  const databaseUrl = env['OSB_DATABASE_URL'];
  const ledger = databaseUrl === undefined ? undefined : openLedger(databaseUrl);
  const osb = new OsbClient({
    url,
    username: env['OSB_USERNAME'] ?? 'broker',
    password: env['OSB_PASSWORD'] ?? '',
    ledger,
  });
  const subject = new Subject({
    osb,
    offer: { ...(await offerOf(osb)), ...offerIn(env) },
    prefixes: new URL(url).pathname === '/' ? PREFIXES : [''],
    restart: undefined,
  });
  return {
    subject,
    async close() {
      await subject.deprovisionAll();
      await ledger?.close();
    },
  };
}

function offerIn(env: NodeJS.ProcessEnv): Partial<Offer> {
  const serviceId = env['OSB_SERVICE_ID'];
  const planId = env['OSB_PLAN_ID'];
  const parameters = env['OSB_PARAMETERS'];
  return {
    ...(serviceId === undefined ? {} : { serviceId }),
    ...(planId === undefined ? {} : { planId }),
    ...(parameters === undefined
      ? {}
      : { parameters: JSON.parse(parameters) as Offer['parameters'] }),
  };
}

interface CatalogBody {
  readonly services: readonly {
    readonly id: string;
    readonly plans: readonly { readonly id: string; readonly name: string }[];
  }[];
}

/** The sandbox where it is offered, else the attached cluster of this run, else the first plan as it is. */
async function offerOf(osb: OsbClient): Promise<Offer> {
  const { body } = await osb.call({ path: '/v2/catalog' });
  const [service] = (body as unknown as CatalogBody).services;
  if (service === undefined) throw new Error('the broker offers nothing');
  const plan =
    service.plans.find(({ name }) => name === SANDBOX) ??
    service.plans.find(({ name }) => name === OWN_CLUSTER) ??
    service.plans[0];
  const parameters = plan?.name === OWN_CLUSTER ? attachedCluster() : {};
  return { serviceId: service.id, planId: plan?.id ?? '', parameters };
}

function attachedCluster(): Offer['parameters'] {
  const parts = inject('parts') as ReturnType<typeof inject<'parts'>> | undefined;
  return parts?.cluster.found === true ? { kubeconfig: parts.cluster.adminKubeconfig } : {};
}
