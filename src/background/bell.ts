// Lets one background pass tell another that there is work, without either knowing the other.

/** Rung before it is listened to, it is heard at once; rung twice, once. */
export class Bell {
  #rung = Promise.withResolvers<void>();

  ring(): void {
    this.#rung.resolve();
  }

  /** Resolves when it is rung, or when `ended` settles, and is quiet again. */
  async heard(ended: Promise<unknown>): Promise<void> {
    await Promise.race([this.#rung.promise, ended.catch(() => undefined)]);
    this.#rung = Promise.withResolvers<void>();
  }
}
