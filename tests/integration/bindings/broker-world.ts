// The world of a history that is real: the verbs and the passes of a broker, on a sandbox cluster. A writer that stalls or
// crashes is a bind at a replica of its own, one of whose calls the cluster leaves without an answer.
import { expireBindings } from '../../../src/background/expire-bindings.ts';
import { finishRevocations } from '../../../src/background/finish-revocations.ts';
import { removeOrphanGrants } from '../../../src/background/remove-orphan-grants.ts';
import type { Broker } from '../../../src/broker/broker.ts';
import { createBinding } from '../../../src/broker/create-binding.ts';
import { deleteBinding } from '../../../src/broker/delete-binding.ts';
import { deleteInstance } from '../../../src/broker/delete-instance.ts';
import { getBindingOperation } from '../../../src/broker/get-binding-operation.ts';
import { getBinding } from '../../../src/broker/get-binding.ts';
import type { HandedOutBinding } from '../../../src/broker/handed-out-binding.ts';
import { BrokerError } from '../../../src/domain/errors.ts';
import type { InjectedFault } from '../../../src/sandbox-cluster/faults.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { type ClusterEyes, openClusterEyes } from '../../support/cluster-administrator.ts';
import type { BindOrder, Replica, StalledOrder, Stop } from '../../support/histories/history.ts';
import type {
  AskAnswer,
  BindAnswer,
  Credential,
  FetchAnswer,
  Refused,
  Seen,
  SeenGrant,
  StalledBind,
  UnbindAnswer,
  WhenWaiting,
  World,
} from '../../support/histories/world.ts';
import { recordSecret } from '../../support/leak-record.ts';
import { OWN_CLUSTER_PLAN_ID, SERVICE_ID } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { type Plot, replicaOf } from './history-ground.ts';
import { claimsOf } from './scene.ts';

const OFFERING = { serviceId: SERVICE_ID, planId: OWN_CLUSTER_PLAN_ID };

/** The ends of the paths to which each of them is posted. */
const CALLS = {
  account: 'serviceaccounts',
  token: 'token',
  role: 'clusterroles',
  'role binding': 'clusterrolebindings',
} as const;

interface StopRecipe {
  /** Which calls are held; a token beside them, so that it is known to be there. */
  readonly held: readonly (readonly [keyof typeof CALLS, 'hang' | 'hang-answer'])[];
  /** Objects that are there once it stands still. */
  readonly objects: number;
}

const RECIPES: Readonly<Record<Stop, StopRecipe>> = {
  'before the account': { held: [['account', 'hang']], objects: 2 },
  'after the account': { held: [['account', 'hang-answer']], objects: 3 },
  'before the token': { held: [['token', 'hang']], objects: 3 },
  'after the token': { held: [['token', 'hang-answer']], objects: 3 },
  'before the role': {
    held: [
      ['role', 'hang'],
      ['token', 'hang-answer'],
    ],
    objects: 2,
  },
  'before the role binding': {
    held: [
      ['role binding', 'hang'],
      ['token', 'hang-answer'],
    ],
    objects: 2,
  },
};

/** What is waited for here comes within some milliseconds; the limit is for a busy machine. */
const LIMIT_MS = 10_000;

export class BrokerWorld implements World {
  readonly #plot: Plot;
  readonly #eyes: ClusterEyes;
  readonly #replicas: Readonly<Record<Replica, Broker>>;
  /** Those that are seen at each new time. */
  readonly #seenReplicas: string[];
  readonly #stalled = new Map<Promise<BindAnswer>, readonly InjectedFault[]>();
  #outage: InjectedFault | undefined;

  constructor(plot: Plot) {
    this.#plot = plot;
    this.#eyes = openClusterEyes(plot.cluster.adminKubeconfig);
    this.#replicas = { first: plot.broker, second: replicaOf(plot.broker) };
    this.#seenReplicas = Object.values(this.#replicas).map(({ replicaId }) => replicaId);
  }

  now(): Date {
    return this.#plot.broker.clock();
  }

  passTime(seconds: number): Promise<void> {
    return this.#plot.passTime(seconds, this.#seenReplicas);
  }

  bind(order: BindOrder, whenWaiting: WhenWaiting): Promise<BindAnswer> {
    const answer = this.#bindAt(this.#replicas[order.by], order);
    return this.#waitFor(answer, order.binding, whenWaiting);
  }

  async stall(order: StalledOrder, whenWaiting: WhenWaiting): Promise<StalledBind | BindAnswer> {
    const replica = replicaOf(this.#plot.broker);
    await beat(replica.db, { replicaId: replica.replicaId, at: this.now() });
    if (order.isSeen) this.#seenReplicas.push(replica.replicaId);
    const { held, objects } = RECIPES[order.at];
    const faults = held.map(([call, kind]) => {
      const on = new RegExp(`^POST ${this.#path()}.*/${CALLS[call]}$`);
      return this.#plot.sandbox.faults.inject({ on, act: { kind }, times: 1 });
    });
    const answer = this.#bindAt(replica, order);
    const isHeld = Promise.all(faults.map((fault) => fault.met(1))).then(() => undefined);
    const first = await this.#waitFor(Promise.race([isHeld, answer]), order.binding, whenWaiting);
    if (first !== undefined) {
      for (const fault of faults) fault.end();
      return first;
    }
    await this.#untilMade(order.binding, objects);
    this.#stalled.set(answer, faults);
    return { outcome: 'stalled', resume: () => this.#resume(answer) };
  }

  fetch(bindingId: string): Promise<FetchAnswer> {
    return orRefused(async () => {
      const binding = await getBinding(this.#plot.broker, {
        instanceId: this.#plot.instance,
        bindingId,
        requestedBy: 'a witness',
      });
      return { outcome: 'shown', credential: credentialOf(binding) };
    });
  }

  ask(bindingId: string): Promise<AskAnswer> {
    return orRefused(async () => {
      const address = { instanceId: this.#plot.instance, bindingId };
      const { state } = await getBindingOperation(this.#plot.broker, address);
      return { outcome: 'reported', state };
    });
  }

  unbind(bindingId: string, by: Replica, whenWaiting: WhenWaiting): Promise<UnbindAnswer> {
    const answer = orRefused<UnbindAnswer>(async () => {
      const request = { instanceId: this.#plot.instance, bindingId, ...OFFERING };
      await deleteBinding(this.#replicas[by], request);
      return { outcome: 'ended' };
    });
    return this.#waitFor(answer, bindingId, whenWaiting);
  }

  async deprovision(): Promise<void> {
    const request = { instanceId: this.#plot.instance, acceptsIncomplete: true, ...OFFERING };
    await orRefused(async () => {
      await deleteInstance(this.#plot.broker, request);
      return undefined;
    });
  }

  takeDown(): void {
    const on = new RegExp(this.#path());
    this.#outage ??= this.#plot.sandbox.faults.inject({ on, act: { kind: 'cut' } });
  }

  bringUp(): void {
    this.#outage?.end();
    this.#outage = undefined;
  }

  async expire(): Promise<void> {
    await expireBindings(this.#plot.broker);
  }

  async finish(): Promise<void> {
    await finishRevocations(this.#plot.broker, { signal: new AbortController().signal });
  }

  async sweep(): Promise<void> {
    const { broker, ledger, instance } = this.#plot;
    await ledger.sql('update instances set next_scan_at = null where id = $1', [instance]);
    await removeOrphanGrants(broker, { signal: new AbortController().signal });
  }

  /** Rows first: what ends meanwhile has an unfinished row and no objects, and not the other way round. */
  async look(): Promise<Seen> {
    const grants = await this.#grants();
    const objects = await this.#undisturbed(() => this.#eyes.objectsOf(this.#plot.installation));
    return { grants, objects: objects.map(({ metadata }) => metadata.name) };
  }

  honours({ token }: Credential): Promise<boolean> {
    return this.#undisturbed(async () => (await this.#eyes.statusWith(token)) === 200);
  }

  /** Lets everything go on that still stalls, and waits for it. */
  async close(): Promise<void> {
    this.bringUp();
    for (const answer of this.#stalled.keys()) await this.#resume(answer);
    await this.#eyes.close();
    await this.#plot.leave();
  }

  #bindAt(replica: Broker, { binding, seconds }: Omit<BindOrder, 'by'>): Promise<BindAnswer> {
    return orRefused(async () => {
      const created = await createBinding(replica, {
        instanceId: this.#plot.instance,
        bindingId: binding,
        ...OFFERING,
        expirationSeconds: seconds,
        createdBy: 'a history',
      });
      return { outcome: created.outcome, credential: credentialOf(created.binding) };
    });
  }

  async #resume(answer: Promise<BindAnswer>): Promise<BindAnswer> {
    for (const fault of this.#stalled.get(answer) ?? []) fault.end();
    this.#stalled.delete(answer);
    return answer;
  }

  /** Says when the request waits for a writer that stalls, and returns its answer. */
  async #waitFor<Answer>(
    answer: Promise<Answer>,
    binding: string,
    whenWaiting: WhenWaiting,
  ): Promise<Answer> {
    const state = { isOver: this.#stalled.size === 0, isWaiting: false };
    const end = (): void => {
      state.isOver = true;
    };
    answer.then(end, end);
    await until({
      what: `the request for ${binding} is answered, or waits`,
      limitMs: LIMIT_MS,
      isSo: async () => {
        state.isWaiting = !state.isOver && (await this.#isAwaited(binding));
        return state.isOver || state.isWaiting;
      },
    });
    if (state.isWaiting) await whenWaiting();
    return answer;
  }

  async #isAwaited(binding: string): Promise<boolean> {
    const { ledger, instance } = this.#plot;
    const rows = await ledger.sql(
      `select 1 from grants g join instances i on i.key = g.instance_key
      where i.id = $1 and g.binding_id = $2 and g.awaited and g.ended_at is null and g.expires_at is null`,
      [instance, binding],
    );
    return rows.length > 0;
  }

  async #untilMade(binding: string, count: number): Promise<void> {
    await until({
      what: `the bind of ${binding} stands still`,
      limitMs: LIMIT_MS,
      isSo: async () => {
        const [current] = await this.#plot.ledger.sql<{ name: string }>(
          `select g.name from grants g join bindings b on b.current_grant = g.id
          join instances i on i.key = b.instance_key where i.id = $1 and b.id = $2`,
          [this.#plot.instance, binding],
        );
        const names = (await this.look()).objects.filter((name) => name === current?.name);
        return names.length === count;
      },
    });
  }

  async #grants(): Promise<readonly SeenGrant[]> {
    const { ledger, instance } = this.#plot;
    const rows = await ledger.sql<SeenGrant & { readonly expires_at: Date | null }>(
      `select g.name, g.binding_id as binding, g.expires_at,
        g.revoking_since is not null as "isOrderedToEnd", g.ended_at is not null as "hasEnded",
        g.next_try_at is not null as "isToBeLookedAt"
      from grants g join instances i on i.key = g.instance_key
      where i.id = $1 order by g.intended_at`,
      [instance],
    );
    return rows.map((row) => ({ ...row, expiresAt: row.expires_at ?? undefined }));
  }

  /** Onlookers see, also while nobody reaches the cluster. */
  async #undisturbed<T>(look: () => Promise<T>): Promise<T> {
    const isDown = this.#outage !== undefined;
    this.bringUp();
    try {
      return await look();
    } finally {
      if (isDown) this.takeDown();
    }
  }

  #path(): string {
    return `/clusters/${this.#plot.cluster.name}/`;
  }
}

/** What callers hear; whatever else fails, fails the history. */
async function orRefused<Answer>(ask: () => Promise<Answer>): Promise<Answer | Refused> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof BrokerError) return { outcome: 'refused', code: error.code };
    throw error;
  }
}

function credentialOf({ token, expiresAt }: HandedOutBinding): Credential {
  const text = token.reveal();
  recordSecret('token of a binding', text);
  const [, , , grant = ''] = claimsOf(text).sub.split(':');
  return { token: text, grant, expiresAt };
}
