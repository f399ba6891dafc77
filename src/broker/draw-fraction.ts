// A number to spread delays by, from where all randomness of the broker comes.
import type { Draw } from './broker.ts';

/** 36^8: finer than any delay is measured. */
const LETTERS = 8;

/** From [0, 1). */
export function drawFraction(draw: Draw): number {
  return Number.parseInt(draw.letters(LETTERS), 36) / 36 ** LETTERS;
}
