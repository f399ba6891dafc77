// Misbehaviour on demand, for tests: which requests meet it, what happens to them, and how often.

export type FaultAct =
  /** Answered so, and not carried out. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** A Status of that code unless said. */
      readonly body?: string;
    }
  /** Carried out late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** `hang`: no answer, and not carried out, until the fault ends; then as usual. `hang-answer`: carried out first. */
  | { readonly kind: 'hang' | 'hang-answer' }
  /** The connection breaks; `cut`: before it is carried out. `cut-body`: in the middle of the answer. */
  | { readonly kind: 'cut' | 'cut-answer' | 'cut-body' }
  /** The answer's body comes in that many pieces, with a pause before each. */
  | { readonly kind: 'slow-body'; readonly pieces: number; readonly pauseMs: number };

export interface Fault {
  /** Tried on method and path with its query: `POST /clusters/a/api/v1/namespaces`. */
  readonly on: RegExp;
  readonly act: FaultAct;
  /** How many requests it meets; all unless said. */
  readonly times?: number;
}

export interface InjectedFault {
  /** How many requests it has met. */
  seen(): number;
  /** Resolves when it has met that many. */
  met(count: number): Promise<void>;
  /** How many requests it holds whose clients still wait. */
  holding(): number;
  /** Lets go on what it holds. A repeat changes nothing. */
  end(): void;
}

/** What a request meets. */
export interface Encounter {
  readonly act: FaultAct;
  /** Resolves when the fault has ended, or when the client has gone. */
  readonly hold: (clientGone: Promise<unknown>) => Promise<void>;
}

interface Standing {
  readonly fault: Fault;
  readonly ended: PromiseWithResolvers<void>;
  seen: number;
  holding: number;
  readonly waiting: { readonly count: number; readonly resolve: () => void }[];
}

export class Faults {
  readonly #standing = new Set<Standing>();

  /** Of several that fit a request, the earliest decides. */
  inject(fault: Fault): InjectedFault {
    const standing: Standing = {
      fault,
      ended: Promise.withResolvers<void>(),
      seen: 0,
      holding: 0,
      waiting: [],
    };
    this.#standing.add(standing);
    return {
      seen: () => standing.seen,
      met: (count) =>
        new Promise((resolve) => {
          if (standing.seen >= count) resolve();
          else standing.waiting.push({ count, resolve });
        }),
      holding: () => standing.holding,
      end: () => this.#end(standing),
    };
  }

  /** Ends every fault. */
  clear(): void {
    for (const standing of this.#standing) this.#end(standing);
  }

  /** For the server: undefined where a request meets none. */
  meet(method: string, url: string): Encounter | undefined {
    const request = `${method} ${url}`;
    for (const standing of this.#standing) {
      const { on, act, times = Number.POSITIVE_INFINITY } = standing.fault;
      // A pattern with a flag that remembers where it was would skip every other request.
      if (standing.seen >= times || request.search(on) === -1) continue;
      standing.seen += 1;
      for (const { count, resolve } of standing.waiting) if (standing.seen >= count) resolve();
      return { act, hold: (clientGone) => hold(standing, clientGone) };
    }
    return undefined;
  }

  #end(standing: Standing): void {
    this.#standing.delete(standing);
    standing.ended.resolve();
  }
}

async function hold(standing: Standing, clientGone: Promise<unknown>): Promise<void> {
  standing.holding += 1;
  await Promise.race([standing.ended.promise, clientGone]);
  standing.holding -= 1;
}
