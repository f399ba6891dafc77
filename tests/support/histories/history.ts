// Histories of bindings: what may happen to the bindings of one instance, in any order, and a world to which it happens.
// There are two worlds, one that is computed and one of a real broker; what must be true in both is the witness's.
import fc from 'fast-check';

/** Few of each, so that what happens meets: repeats, conflicts, and a third one that finds no slot. */
export const BINDINGS = ['a', 'b', 'c'] as const;
export const MAX_LIVE = 2;

/** Undefined: the request leaves it to the plan, which says 600 too, and still it is another request. */
const LIFETIMES = [600, 7200, undefined] as const;

const REPLICAS = ['first', 'second'] as const;

/**
 * Where a writer gets no further: `before` a call arrives, or `after` it was carried out and before its answer. What
 * does not wait for that call is carried out beside it.
 */
export const STOPS = [
  'before the account',
  'after the account',
  'before the token',
  'after the token',
  'before the role',
  'before the role binding',
] as const;

/**
 * Seconds, each just beyond something: a beat, a replica that is lost, what a request may take, a lease, a last look,
 * the short lifetime, the longest delay of a retry, the long lifetime.
 */
const PASSING = [2, 7, 20, 31, 95, 601, 901, 7201] as const;

export type Stop = (typeof STOPS)[number];
export type Replica = (typeof REPLICAS)[number];

export interface BindOrder {
  readonly binding: string;
  readonly seconds: number | undefined;
  readonly by: Replica;
}

export interface StalledOrder extends Omit<BindOrder, 'by'> {
  readonly at: Stop;
  /** Whether its replica is still seen: then nobody takes its issue for dead before its lease is over. */
  readonly isSeen: boolean;
}

export type Act =
  | ({ readonly kind: 'bind' } & BindOrder)
  /** Stalls: goes on when it is resumed. Crashes: does not, for as long as the history goes. */
  | ({ readonly kind: 'stall' | 'crash' } & StalledOrder)
  | { readonly kind: 'unbind'; readonly binding: string; readonly by: Replica }
  | { readonly kind: 'pass time'; readonly seconds: number }
  | { readonly kind: Bare };

const BARE = [
  /** The writer that has stalled for longest goes on. */
  'resume',
  'cluster down',
  'cluster up',
  'expire',
  'finish',
  'sweep',
  'deprovision',
] as const;

type Bare = (typeof BARE)[number];

/** How often each of them comes; what most others need, or what ends a history, more and less often. */
const WEIGHT_OF: Readonly<Record<Bare, number>> = {
  resume: 2,
  'cluster down': 2,
  'cluster up': 2,
  expire: 2,
  finish: 2,
  sweep: 1,
  deprovision: 1,
};

/** Prints as a list of sentences, and shrinks to the fewest that still show it. */
export function histories(maxLength: number): fc.Arbitrary<readonly Act[]> {
  // Without bias: of a few histories, most would else be too short for anything to meet.
  return fc.noBias(fc.array(anAct(), { minLength: 1, maxLength, size: 'max' }));
}

function anAct(): fc.Arbitrary<Act> {
  const binding = fc.constantFrom(...BINDINGS);
  const seconds = fc.constantFrom(...LIFETIMES);
  const by = fc.constantFrom(...REPLICAS);
  const kind = <Kind extends Act['kind']>(...kinds: readonly Kind[]) => fc.constantFrom(...kinds);
  const act = fc.oneof(
    { weight: 12, arbitrary: fc.record({ kind: kind('bind'), binding, seconds, by }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: kind('stall', 'crash'),
        binding,
        seconds,
        at: fc.constantFrom(...STOPS),
        isSeen: fc.boolean(),
      }),
    },
    { weight: 6, arbitrary: fc.record({ kind: kind('unbind'), binding, by }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: kind('pass time'), seconds: fc.constantFrom(...PASSING) }),
    },
    ...BARE.map((each) => ({
      weight: WEIGHT_OF[each],
      arbitrary: fc.record({ kind: kind(each) }),
    })),
  );
  return act.map((each) => ({ ...each, toString: () => inWords(each) }));
}

function inWords(act: Act): string {
  switch (act.kind) {
    case 'bind':
      return `bind ${act.binding} for ${lifetime(act.seconds)} at the ${act.by}`;
    case 'stall':
    case 'crash':
      return `bind ${act.binding} for ${lifetime(act.seconds)} at a replica that ${act.kind === 'stall' ? 'stalls' : 'crashes'} ${act.at}${act.isSeen ? ', and is still seen' : ''}`;
    case 'unbind':
      return `unbind ${act.binding} at the ${act.by}`;
    case 'pass time':
      return `pass ${act.seconds} s`;
    case 'resume':
    case 'cluster down':
    case 'cluster up':
    case 'expire':
    case 'finish':
    case 'sweep':
    case 'deprovision':
      return act.kind;
  }
}

function lifetime(seconds: number | undefined): string {
  return seconds === undefined ? 'as long as usual' : `${seconds} s`;
}
