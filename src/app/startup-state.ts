// What becomes known only once the database has been reached: whether requests can be served, and who we are to
// clusters. The listeners are up before that, and answer 503.
import { UpstreamError } from '../domain/errors.ts';
import type { Marker } from '../kubernetes/grant-mark.ts';

export class StartupState {
  #marker: Marker | undefined;

  /** From now on requests are served. */
  complete(marker: Marker): void {
    this.#marker = marker;
  }

  isServing(): boolean {
    return this.#marker !== undefined;
  }

  marker(): Marker {
    if (this.#marker === undefined) {
      throw new UpstreamError({
        system: 'database',
        action: 'read the installation',
        reason: 'unreachable',
        detail: 'the database has not been reached since the start',
      });
    }
    return this.#marker;
  }
}
