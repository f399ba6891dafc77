// What the sandbox is given from outside, so that tests move time and draw what they like.

export type Clock = () => Date;

export interface Draw {
  uuid(): string;
  /** Lower-case letters and digits. */
  letters(length: number): string;
}

export interface Surroundings {
  readonly clock: Clock;
  readonly draw: Draw;
}
