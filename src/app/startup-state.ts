// What becomes known only once the database has been reached: whether requests can be served, and who we are to
// clusters. The listeners are up before that, and answer 503.
import { UpstreamError } from '../domain/errors.ts';
import type { Marker } from '../kubernetes/grant-mark.ts';

export class StartupState {
  #marker: Marker | Error | undefined;

  /**
   * From now on requests are served.
   * @param marker or why there is none: that alone fails then which needs it (docs/configuration.md, "Environment
   *   variables")
   */
  complete(marker: Marker | Error): void {
    this.#marker = marker;
  }

  isServing(): boolean {
    return this.#marker !== undefined;
  }

  /** @throws UpstreamError before the database was reached; what `complete` was given in place of a marker */
  marker(): Marker {
    if (this.#marker === undefined) {
      throw new UpstreamError({
        system: 'database',
        action: 'read the installation',
        reason: 'unreachable',
        detail: 'the database has not been reached since the start',
      });
    }
    if (this.#marker instanceof Error) {
      throw this.#marker;
    }
    return this.#marker;
  }

  /** Sentences for operators. */
  warnings(): readonly string[] {
    return this.#marker instanceof Error
      ? [
          'The key that signs our marks on clusters cannot be opened, so bindings cannot be issued; ' +
            'start with the sealing key that it was sealed under.',
        ]
      : [];
  }
}
