// Where histories happen to a real broker: its verbs, its passes and its database, sandbox clusters in this process, and
// one clock for all of them that stands still until a history moves it. Each history gets an instance and a cluster of
// its own; what it leaves is settled by force, so that the next one meets nothing of it.
import { randomUUID } from 'node:crypto';
import type { Broker } from '../../../src/broker/broker.ts';
import { InstanceTurns } from '../../../src/broker/instance-turns.ts';
import { addSeconds } from '../../../src/domain/clock.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { startBroker, type TestBroker } from '../../support/broker.ts';
import { freshDatabaseOn } from '../../support/database.ts';
import type { Engine } from '../../support/engines-under-test.ts';
import { MAX_LIVE } from '../../support/histories/history.ts';
import { ledgerEyesOf, type LedgerEyes } from '../../support/ledger-dump.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { newId, untilOperationEnds } from './scene.ts';

/** Whole seconds, as a cluster counts them. */
class StandingClock {
  #now = new Date(Math.floor(Date.now() / 1000) * 1000);

  now(): Date {
    return this.#now;
  }

  pass(seconds: number): void {
    this.#now = addSeconds(this.#now, seconds);
  }
}

/** A place for one history. */
export interface Plot {
  readonly instance: string;
  readonly cluster: { readonly name: string; readonly adminKubeconfig: string };
  readonly broker: Broker;
  readonly ledger: LedgerEyes;
  readonly sandbox: TestSandbox['sandbox'];
  readonly installation: string;
  /** Moves the clock; those replicas are seen at the new time. */
  passTime(seconds: number, replicas: readonly string[]): Promise<void>;
  leave(): Promise<void>;
}

export interface HistoryGround {
  openPlot(): Promise<Plot>;
  close(): Promise<void>;
}

export async function openHistoryGround(engine: Engine): Promise<HistoryGround> {
  const clock = new StandingClock();
  const sandbox = await startTestSandbox({ clock: () => clock.now() });
  const database = await freshDatabaseOn(engine);
  const broker = await startBroker({
    databaseUrl: database.url,
    env: database.env,
    configFile: `plans: {own_cluster: {binding: {maxLive: ${MAX_LIVE}}}}`,
    given: { clock: () => clock.now() },
    reconciles: false,
  });
  return {
    openPlot: () => openPlot({ broker, sandbox, clock }),
    async close() {
      await broker.stop();
      await sandbox.stop();
      await database.drop();
    },
  };
}

interface Ground {
  readonly broker: TestBroker;
  readonly sandbox: TestSandbox;
  readonly clock: StandingClock;
}

async function openPlot({ broker: started, sandbox, clock }: Ground): Promise<Plot> {
  const { broker } = started.composition;
  const name = newId('history');
  const instance = randomUUID();
  const { adminKubeconfig } = sandbox.openCluster(name);
  await started.platform.provision({ instance }, adminKubeconfig);
  await untilOperationEnds(started.platform, { instance }, 'succeeded');
  const ledger = ledgerEyesOf(broker);
  return {
    instance,
    cluster: { name, adminKubeconfig },
    broker,
    ledger,
    sandbox: sandbox.sandbox,
    installation: broker.marker().installation,
    async passTime(seconds, replicas) {
      clock.pass(seconds);
      for (const replicaId of replicas) await beat(broker.db, { replicaId, at: clock.now() });
    },
    async leave() {
      await forget(ledger, instance, clock.now());
      sandbox.sandbox.removeCluster(name);
    },
  };
}

/** As if all of it had been done long ago: nobody comes to it any more. */
async function forget(ledger: LedgerEyes, instance: string, now: Date): Promise<void> {
  const ofInstance = 'instance_key in (select key from instances where id = $1)';
  await ledger.sql(
    `update grants set ended_at = $2, proof = 'forgotten', sealed_token = null,
      lease_replica = null, leased_until = null
    where ended_at is null and ${ofInstance}`,
    [instance, now],
  );
  await ledger.sql(`update grants set next_try_at = null where ${ofInstance}`, [instance]);
  await ledger.sql(
    `update operations set state = 'failed', finished_at = $2
    where ${ofInstance} and state = 'in progress'`,
    [instance, now],
  );
  await ledger.sql('update instances set deleted_at = $2, sealed_access = null where id = $1', [
    instance,
    now,
  ]);
}

/** Another replica, on the same database and in the same process; it is seen when the test says so. */
export function replicaOf(broker: Broker): Broker {
  return { ...broker, replicaId: broker.draw.uuid(), turns: new InstanceTurns() };
}
