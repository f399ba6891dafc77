// The witness of a history: remembers what was promised to callers and what they gave up, and says so when an answer, or
// what an onlooker sees, breaks one of the promises. It knows nothing of how a broker decides.
import { MAX_LIVE } from './history.ts';
import type {
  AskAnswer,
  BindAnswer,
  Credential,
  FetchAnswer,
  Seen,
  SeenGrant,
  UnbindAnswer,
} from './world.ts';

/** Account, role and role binding. */
const OBJECTS_OF_A_GRANT = 3;

interface Promised {
  readonly seconds: number | undefined;
  readonly credential: Credential;
}

/** What there was to see when an answer came. */
interface Moment {
  readonly now: Date;
  readonly seen: Seen;
}

/** Throws where a promise is broken, with a sentence that begins with the promise. */
export class Witness {
  /** By binding: what callers were given last, and have not deleted. */
  readonly #promised = new Map<string, Promised>();
  /** Every credential that was ever handed out, by its grant. */
  readonly #handedOut = new Map<string, Credential>();
  /** Grants that a caller ended. */
  readonly #dead = new Set<string>();
  #isGoing = false;

  /** After whatever happened. */
  looked({ now, seen }: Moment): void {
    const taken = seen.grants.filter((grant) => takesSlot(grant, now)).length;
    hold('the limit', taken <= MAX_LIVE, `${taken} grants take a slot`);
    const working = [...this.#handedOut.values()].filter(
      ({ grant, expiresAt }) => expiresAt > now && seen.objects.includes(grant),
    );
    hold('the limit', working.length <= MAX_LIVE, `${working.length} credentials work`);
    for (const name of new Set(seen.objects)) {
      const row = seen.grants.find((grant) => grant.name === name);
      const isKnown = row !== undefined && (!row.hasEnded || row.isToBeLookedAt);
      hold('nothing without a row', isKnown, `${name} is on the cluster, and no row ends it`);
    }
    for (const [binding, { credential }] of this.#promised) {
      if (credential.expiresAt > now) expectLive(binding, credential, { now, seen });
    }
  }

  bound(
    { binding, seconds }: { readonly binding: string; readonly seconds: number | undefined },
    answer: BindAnswer,
    moment: Moment,
  ): void {
    const promised = this.#liveOf(binding, moment.now);
    if (promised !== undefined) {
      const expected =
        promised.seconds === seconds
          ? answer.outcome === 'same' && answer.credential.token === promised.credential.token
          : answer.outcome === 'refused' && answer.code === 'binding-conflict';
      hold('the same for a repeat', expected, `${binding} lives, and a bind was ${told(answer)}`);
    }
    if (answer.outcome === 'refused') {
      const taken = moment.seen.grants.filter((grant) => takesSlot(grant, moment.now)).length;
      const isTrue = answer.code !== 'binding-limit-reached' || taken === MAX_LIVE;
      hold('the limit', isTrue, `a bind was refused by it, and ${taken} slots are taken`);
      return;
    }
    if (answer.outcome === 'issued') {
      const isNew = !this.#handedOut.has(answer.credential.grant);
      hold('the same for a repeat', isNew, `${answer.credential.grant} was issued twice`);
    }
    this.#expectAlive(binding, answer.credential, moment);
    this.#promised.set(binding, { seconds, credential: answer.credential });
  }

  fetched(binding: string, answer: FetchAnswer, moment: Moment): void {
    const promised = this.#liveOf(binding, moment.now);
    if (promised !== undefined) {
      const isSame =
        answer.outcome === 'shown' && answer.credential.token === promised.credential.token;
      hold('the same for a repeat', isSame, `${binding} lives, and a fetch was ${told(answer)}`);
    }
    if (answer.outcome === 'shown') this.#expectAlive(binding, answer.credential, moment);
  }

  asked(binding: string, answer: AskAnswer, now: Date): void {
    if (this.#liveOf(binding, now) === undefined) return;
    const isTrue = answer.outcome === 'reported' && answer.state === 'succeeded';
    hold('the same for a repeat', isTrue, `${binding} lives, and its making is not told as done`);
  }

  unbound(binding: string, answer: UnbindAnswer, { now, seen }: Moment): void {
    if (answer.outcome === 'refused' && answer.code === 'binding-gone') {
      const isTrue = this.#liveOf(binding, now) === undefined;
      hold('the same for a repeat', isTrue, `${binding} lives, and was told to be gone`);
      return;
    }
    this.#promised.delete(binding);
    const attempts = seen.grants.filter((each) => each.binding === binding);
    for (const grant of attempts) {
      this.#dead.add(grant.name);
      // An earlier attempt that never got to hand anything out may be reopened by its own late writer, for the sweep.
      const isAnswered = grant === attempts.at(-1) || this.#handedOut.has(grant.name);
      if (answer.outcome !== 'ended' || !isAnswered) continue;
      const isGone = grant.hasEnded && !seen.objects.includes(grant.name);
      hold('ended when told so', isGone, `${binding} was told to be deleted, ${grant.name} is not`);
    }
  }

  deprovisioned({ grants }: Seen): void {
    this.#isGoing = true;
    this.#promised.clear();
    for (const { name, isOrderedToEnd, hasEnded } of grants) {
      this.#dead.add(name);
      hold('nothing outlives its instance', isOrderedToEnd || hasEnded, `${name} is to live on`);
    }
  }

  /** Once nothing is left to do for anybody. */
  settled({ now, seen }: Moment): void {
    const objects = seen.objects.toSorted();
    const owned = seen.grants.filter((grant) => isLive(grant, now)).map(({ name }) => name);
    const expected = owned.flatMap((name) => Array<string>(OBJECTS_OF_A_GRANT).fill(name));
    const isExact = objects.join() === expected.toSorted().join();
    hold('settled in the end', isExact, `live is [${owned.join()}], there is [${objects.join()}]`);
    const open = seen.grants.filter(
      (grant) => !isLive(grant, now) && (!grant.hasEnded || grant.isToBeLookedAt),
    );
    const names = open.map(({ name }) => name).join();
    hold('settled in the end', open.length === 0, `there is still something to do for ${names}`);
  }

  /** Everything that was ever handed out. */
  credentials(): readonly Credential[] {
    return [...this.#handedOut.values()];
  }

  /** Once everything is settled: what is promised works, and nothing else does. */
  tried(
    credential: Credential,
    { now, isHonoured }: { readonly now: Date; readonly isHonoured: boolean },
  ): void {
    const { grant, token, expiresAt } = credential;
    const promised = [...this.#promised.values()].map((each) => each.credential.token);
    if (expiresAt > now && promised.includes(token)) {
      hold('what is promised lives', isHonoured, `${grant} is refused`);
    } else if (expiresAt <= now || this.#dead.has(grant)) {
      hold('nothing dead works', !isHonoured, `${grant} is not refused`);
    }
  }

  #liveOf(binding: string, now: Date): Promised | undefined {
    const promised = this.#promised.get(binding);
    return promised !== undefined && promised.credential.expiresAt > now ? promised : undefined;
  }

  #expectAlive(binding: string, credential: Credential, moment: Moment): void {
    const { grant, token } = credential;
    const nothingDead = (holds: boolean, what: string): void =>
      hold('nothing dead is handed out', holds, `${grant} of ${binding} was, ${what}`);
    nothingDead(!this.#isGoing, 'and the instance is going');
    nothingDead(!this.#dead.has(grant), 'after it was deleted');
    nothingDead(credential.expiresAt > moment.now, 'past its expiry');
    const known = this.#handedOut.get(grant);
    hold('the same for a repeat', (known?.token ?? token) === token, `${grant} has two tokens`);
    expectLive(binding, credential, moment);
    this.#handedOut.set(grant, credential);
  }
}

function expectLive(binding: string, { grant }: Credential, { now, seen }: Moment): void {
  const row = seen.grants.find(({ name }) => name === grant);
  const isKept = row !== undefined && isLive(row, now);
  hold('what is promised lives', isKept, `${grant} of ${binding} does not`);
  const count = seen.objects.filter((name) => name === grant).length;
  const isWhole = count === OBJECTS_OF_A_GRANT;
  hold('what is promised lives', isWhole, `${grant} of ${binding} has ${count} objects`);
}

function isLive({ expiresAt, isOrderedToEnd, hasEnded }: SeenGrant, now: Date): boolean {
  return expiresAt !== undefined && expiresAt > now && !isOrderedToEnd && !hasEnded;
}

/** As contract 4 has it: from intent until it has ended or is past its expiry; without a credential, until it is to be undone. */
function takesSlot({ expiresAt, isOrderedToEnd, hasEnded }: SeenGrant, now: Date): boolean {
  if (hasEnded) return false;
  return expiresAt === undefined ? !isOrderedToEnd : expiresAt > now;
}

function told(answer: BindAnswer | FetchAnswer): string {
  return answer.outcome === 'refused'
    ? `refused: ${answer.code}`
    : `${answer.outcome}: ${answer.credential.grant}`;
}

function hold(promise: string, holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(`${promise}: ${otherwise}`);
}
