// Why the demo cannot go on, in words for the person who runs it. Anything else that is thrown is a bug and is shown
// with its stack.

export class DemoFailure extends Error {
  /** What to do about it, or what is known besides. */
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = []) {
    super(message);
    this.name = 'DemoFailure';
    this.hints = hints;
  }
}
