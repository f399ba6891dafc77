// Randomness of the real process; tests hand in their own.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Draw } from '../broker/broker.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

export const randomDraw: Draw = {
  uuid: () => randomUUID(),
  letters: (length) =>
    Array.from({ length }, () => LETTERS.charAt(randomInt(LETTERS.length))).join(''),
};

const KEY_BYTES = 32;

export function drawKey(): Buffer {
  return randomBytes(KEY_BYTES);
}
