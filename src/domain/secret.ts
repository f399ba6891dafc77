// A value that must not be seen: it prints, logs and serialises as `[secret]`.
// Reading it takes a visible call of `reveal()`; each such call is a place to review.

const MASK = '[secret]';

/** What Node's console and util.inspect ask for; named by symbol so that the domain imports nothing. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [INSPECT](): string {
    return MASK;
  }
}
