// Lets a history happen to a world, one act after the other, with a witness who looks after each of them; then lets
// everything settle, twice: while those that crashed stay away, and after all that stalled have come back.
import { type Act, BINDINGS, type StalledOrder } from './history.ts';
import { Witness } from './witness.ts';
import type { BindAnswer, Seen, StalledBind, World } from './world.ts';

/** Whoever asked was told by then that it took too long (contract 4, "Limits of time"), and hears no more. */
const HEARD_WITHIN_MS = 20_000;

/** From the start of an issue on; after it nobody waits for its writer any more: its lease is over, or its replica lost. */
const LEASE_SECONDS = 31;
const LOST_SECONDS = 7;

/** Beyond the longest delay of a retry. */
const RETRY_SECONDS = 901;

/** Beyond a lease and the last look after it. */
const LAST_LOOK_SECONDS = 95;

/** @throws Error where a promise was broken */
export async function runHistory(world: World, acts: readonly Act[]): Promise<void> {
  const run = new Run(world);
  for (const act of acts) {
    await run.perform(act);
    await run.look();
  }
  await run.settle();
  await run.resumeAll();
  await run.look();
  await run.settle();
}

interface Held {
  readonly order: StalledOrder;
  readonly since: Date;
  readonly bind: StalledBind;
  readonly hasCrashed: boolean;
}

class Run {
  readonly #world: World;
  readonly #witness = new Witness();
  readonly #held = new Set<Held>();

  constructor(world: World) {
    this.#world = world;
  }

  async perform(act: Act): Promise<void> {
    const world = this.#world;
    switch (act.kind) {
      case 'bind':
        await this.#untilCrashIsOver(act.binding);
        this.#witness.bound(
          act,
          await world.bind(act, () => this.#letGo(act.binding)),
          await this.#moment(),
        );
        return;
      case 'stall':
      case 'crash':
        await this.#stall(act, { hasCrashed: act.kind === 'crash' });
        return;
      case 'resume':
        await this.#resume([...this.#held].find(({ hasCrashed }) => !hasCrashed));
        return;
      case 'unbind':
        await this.#untilCrashIsOver(act.binding);
        this.#witness.unbound(
          act.binding,
          await world.unbind(act.binding, act.by, () => this.#letGo(act.binding)),
          await this.#moment(),
        );
        return;
      case 'deprovision':
        await world.deprovision();
        this.#witness.deprovisioned(await world.look());
        return;
      case 'pass time':
        await world.passTime(act.seconds);
        return;
      case 'cluster down':
        world.takeDown();
        return;
      case 'cluster up':
        world.bringUp();
        return;
      case 'expire':
      case 'finish':
      case 'sweep':
        await world[act.kind]();
    }
  }

  /** All that anybody can see: the ledger and the cluster, and what callers are told of each binding. */
  async look(): Promise<void> {
    const moment = await this.#moment();
    this.#witness.looked(moment);
    for (const binding of BINDINGS) {
      this.#witness.fetched(binding, await this.#world.fetch(binding), moment);
      this.#witness.asked(binding, await this.#world.ask(binding), moment.now);
    }
  }

  /** Until nothing is due: what could not be done is tried again, and what ended without an outcome is looked at. */
  async settle(): Promise<void> {
    const world = this.#world;
    world.bringUp();
    for (const seconds of [RETRY_SECONDS, LAST_LOOK_SECONDS]) {
      await world.passTime(seconds);
      await world.expire();
      await world.finish();
      await this.look();
    }
    await world.sweep();
    await this.look();
    this.#witness.settled(await this.#moment());
    await this.#tryCredentials();
  }

  async resumeAll(): Promise<void> {
    for (const held of this.#held) await this.#resume(held);
  }

  async #moment(): Promise<{ readonly now: Date; readonly seen: Seen }> {
    return { now: this.#world.now(), seen: await this.#world.look() };
  }

  async #stall(
    order: StalledOrder,
    { hasCrashed }: { readonly hasCrashed: boolean },
  ): Promise<void> {
    await this.#untilCrashIsOver(order.binding);
    const bind = await this.#world.stall(order, () => this.#letGo(order.binding));
    const since = this.#world.now();
    if (bind.outcome === 'stalled') this.#held.add({ order, since, bind, hasCrashed });
    else this.#witness.bound(order, bind, await this.#moment());
  }

  /** A request for what a crashed writer has begun waits until its writer counts as dead; so that time passes here. */
  async #untilCrashIsOver(binding: string): Promise<void> {
    for (const { order, since, hasCrashed } of this.#held) {
      const deadAfter = order.isSeen ? LEASE_SECONDS : LOST_SECONDS;
      const passedMs = this.#world.now().getTime() - since.getTime();
      const isWaitedFor = hasCrashed && order.binding === binding && passedMs < deadAfter * 1000;
      if (isWaitedFor) await this.#world.passTime(deadAfter);
    }
  }

  /** Nobody may wait for ever: whom a request waits for goes on. */
  async #letGo(binding: string): Promise<void> {
    for (const held of this.#held) {
      if (held.order.binding === binding && !held.hasCrashed) await this.#resume(held);
    }
  }

  async #resume(held: Held | undefined): Promise<void> {
    if (held === undefined) return;
    this.#held.delete(held);
    const answer: BindAnswer = await held.bind.resume();
    const heldForMs = this.#world.now().getTime() - held.since.getTime();
    // A refusal promises nothing: it came late, and another request may have got a credential meanwhile.
    if (heldForMs > HEARD_WITHIN_MS || answer.outcome === 'refused') return;
    this.#witness.bound(held.order, answer, await this.#moment());
  }

  async #tryCredentials(): Promise<void> {
    for (const credential of this.#witness.credentials()) {
      const isHonoured = await this.#world.honours(credential);
      this.#witness.tried(credential, { now: this.#world.now(), isHonoured });
    }
  }
}
