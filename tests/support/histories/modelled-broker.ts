// The world of a history that is computed: the domain's decisions over a ledger and a cluster that are a few maps. Its
// verbs are those of src/broker/ without their waiting; so it shows whether the decisions are right, fast and often.
import {
  type CreateBindingDecision,
  decideCreateBinding,
  decideDeleteBinding,
  decideGetBinding,
  decideGetBindingOperation,
} from '../../../src/domain/binding-requests.ts';
import { isBeingWritten } from '../../../src/domain/binding.ts';
import { BUILT_IN_PLANS } from '../../../src/domain/built-in-plans.ts';
import { addSeconds } from '../../../src/domain/clock.ts';
import type { InstanceState } from '../../../src/domain/instance.ts';
import { decideOrphan } from '../../../src/domain/orphans.ts';
import { type BindOrder, MAX_LIVE, type StalledOrder } from './history.ts';
import { ModelledCluster } from './modelled-cluster.ts';
import { ModelledLedger, type Row } from './modelled-ledger.ts';
import type {
  AskAnswer,
  BindAnswer,
  Credential,
  FetchAnswer,
  Refused,
  Seen,
  StalledBind,
  UnbindAnswer,
  WhenWaiting,
  World,
} from './world.ts';

const START = new Date('2026-06-01T12:00:00.000Z');

const IDS = { serviceId: 'service', planId: 'plan' };

interface Issue {
  readonly row: Row;
  readonly expiresAt: Date;
}

export class ModelledBroker implements World {
  readonly #cluster = new ModelledCluster();
  readonly #ledger = new ModelledLedger();
  readonly #plan = planWith(MAX_LIVE);
  #now = START;
  #instance: InstanceState = 'ready';

  now(): Date {
    return this.#now;
  }

  passTime(seconds: number): Promise<void> {
    this.#now = addSeconds(this.#now, seconds);
    this.#ledger.beat(this.#now);
    return Promise.resolve();
  }

  async bind(order: BindOrder, whenWaiting: WhenWaiting): Promise<BindAnswer> {
    const decided = await this.#announce({ ...order, isSeen: true }, whenWaiting);
    return 'outcome' in decided ? decided : this.#carryOn(decided);
  }

  async stall(order: StalledOrder, whenWaiting: WhenWaiting): Promise<StalledBind | BindAnswer> {
    const issue = await this.#announce(order, whenWaiting);
    if ('outcome' in issue) return issue;
    const { row } = issue;
    if (!this.#cluster.make(row.grant.name, order.at)) return this.#giveUp(row);
    const resume = (): Promise<BindAnswer> => Promise.resolve(this.#carryOn(issue));
    return { outcome: 'stalled', resume };
  }

  fetch(binding: string): Promise<FetchAnswer> {
    const decided = decideGetBinding(this.#facts(binding), this.#now);
    return Promise.resolve(
      decided.decision === 'refuse'
        ? refused(decided.refusal.code)
        : { outcome: 'shown', credential: this.#credentialOf(decided.binding.grant.name) },
    );
  }

  ask(binding: string): Promise<AskAnswer> {
    const decided = decideGetBindingOperation(this.#facts(binding), this.#now);
    return Promise.resolve(
      decided.decision === 'refuse'
        ? refused(decided.refusal.code)
        : { outcome: 'reported', state: decided.state },
    );
  }

  async unbind(binding: string, _by: string, whenWaiting: WhenWaiting): Promise<UnbindAnswer> {
    const facts = this.#facts(binding);
    const decided = decideDeleteBinding(facts, this.#now);
    if (decided.decision === 'refuse') return refused(decided.refusal.code);
    this.#ledger.deleteBinding(binding, this.#now);
    if (decided.decision === 'forget' || facts.binding === undefined) return { outcome: 'ended' };
    const row = this.#ledger.rowOf(facts.binding.grant.name);
    return (await this.#isEnded(row, whenWaiting))
      ? { outcome: 'ended' }
      : refused('not-revoked-yet');
  }

  deprovision(): Promise<void> {
    if (this.#instance !== 'ready') return Promise.resolve();
    this.#instance = 'deprovisioning';
    this.#ledger.deleteAll(this.#now);
    return Promise.resolve();
  }

  takeDown(): void {
    this.#cluster.isUp = false;
  }

  bringUp(): void {
    this.#cluster.isUp = true;
  }

  expire(): Promise<void> {
    this.#ledger.markExpired(this.#now);
    this.#ledger.fenceDeadIssues(this.#now);
    return Promise.resolve();
  }

  finish(): Promise<void> {
    for (const row of this.#ledger.due(this.#now)) {
      const isLastLook = row.grant.endedAt !== undefined;
      if (this.#revoke(row) && isLastLook) row.nextTryAt = undefined;
    }
    return Promise.resolve();
  }

  sweep(): Promise<void> {
    for (const name of this.#cluster.isUp ? this.#cluster.grants() : []) {
      const row = this.#ledger.rowOf(name);
      const { uids, endedAt, intendedAt } = row.grant;
      const facts = {
        uid: name,
        markedAt: intendedAt,
        row: {
          isOfThisPlace: true,
          isOutOfReach: false,
          uid: uids?.account,
          hasEnded: endedAt !== undefined,
          isToBeLookedAt: row.nextTryAt !== undefined,
        },
        restoreConfirmedAt: undefined,
      };
      const decided = decideOrphan(facts, this.#now);
      if (decided === 'remove') this.#cluster.remove(name);
      if (decided === 'reopen') this.#ledger.reopen(row, this.#now);
    }
    return Promise.resolve();
  }

  look(): Promise<Seen> {
    return Promise.resolve({ grants: this.#ledger.seen(), objects: this.#cluster.objects() });
  }

  honours({ grant, expiresAt }: Credential): Promise<boolean> {
    return Promise.resolve(this.#cluster.hasAll(grant) && expiresAt > this.#now);
  }

  /** @returns the issue that is announced, or the answer where none is to be */
  async #announce(
    order: Pick<StalledOrder, 'binding' | 'seconds' | 'isSeen'>,
    whenWaiting: WhenWaiting,
  ): Promise<Issue | BindAnswer> {
    for (;;) {
      const decided = this.#decide(order);
      switch (decided.decision) {
        case 'refuse':
          return refused(decided.refusal.code);
        case 'same':
          return { outcome: 'same', credential: this.#credentialOf(decided.binding.grant.name) };
        case 'issue': {
          const row = this.#ledger.announce(order, this.#now);
          return { row, expiresAt: addSeconds(this.#now, decided.expirationSeconds) };
        }
        case 'wait':
          await whenWaiting();
          break;
        case 'takeOver': {
          const row = this.#ledger.rowOf(decided.grant.name);
          this.#ledger.orderEnd(row, this.#now);
          const isEnded = await this.#isEnded(row, whenWaiting);
          if (!isEnded) return refused(decided.otherwise?.code ?? 'cluster-unavailable');
        }
      }
    }
  }

  #decide({ binding, seconds }: Pick<BindOrder, 'binding' | 'seconds'>): CreateBindingDecision {
    this.#ledger.fenceDeadIssues(this.#now);
    const facts = {
      instance: { ...IDS, state: this.#instance, clusterIsGone: false },
      plan: this.#plan,
      binding: this.#ledger.binding(binding),
      slots: this.#ledger.slots(this.#now),
    };
    return decideCreateBinding(facts, { ...IDS, expirationSeconds: seconds }, this.#now);
  }

  #facts(binding: string) {
    return { instance: this.#instance, binding: this.#ledger.binding(binding) };
  }

  /** Makes what is missing, and stores the outcome. */
  #carryOn({ row, expiresAt }: Issue): BindAnswer {
    const { name, intendedAt } = row.grant;
    if (!this.#cluster.make(name)) return this.#giveUp(row);
    if (!this.#ledger.storeOutcome(row, { issuedAt: intendedAt, expiresAt })) {
      return this.#giveUp(row, 'concurrent-operation');
    }
    return { outcome: 'issued', credential: this.#credentialOf(name) };
  }

  #giveUp(row: Row, code = 'cluster-unavailable'): Refused {
    if (row.grant.revokingSince === undefined) this.#ledger.orderEnd(row, this.#now);
    if (!this.#revoke(row)) this.#ledger.reopen(row, this.#now);
    return refused(code);
  }

  async #isEnded(row: Row, whenWaiting: WhenWaiting): Promise<boolean> {
    if (isBeingWritten(row.grant, this.#now)) await whenWaiting();
    return row.grant.endedAt !== undefined || this.#revoke(row);
  }

  /** @returns false when the cluster is away; then it is tried again later */
  #revoke(row: Row): boolean {
    if (this.#cluster.remove(row.grant.name)) {
      this.#ledger.end(row, this.#now);
      return true;
    }
    this.#ledger.postpone(row, this.#now);
    return false;
  }

  #credentialOf(name: string): Credential {
    const { expiresAt } = this.#ledger.rowOf(name).grant;
    if (expiresAt === undefined) throw new Error(`${name} has no credential`);
    return { token: `token of ${name}`, grant: name, expiresAt };
  }
}

function planWith(maxLive: number) {
  const plan = BUILT_IN_PLANS.find(({ name }) => name === 'own_cluster');
  return plan && { ...plan, binding: { ...plan.binding, maxLive } };
}

function refused(code: string): Refused {
  return { outcome: 'refused', code };
}
