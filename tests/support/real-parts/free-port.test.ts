// That a port which was taken between draw and bind costs another draw, and nothing else does.

import { expect, it } from 'vitest';
import { onFreePort } from './free-port.ts';

const TAKEN = new Error('listen tcp 127.0.0.1:23456: bind: address already in use');

it('starts again on another port while the drawn one turns out to be taken', async () => {
  const ports: number[] = [];
  const result = await onFreePort((port) => {
    ports.push(port);
    return ports.length < 3 ? Promise.reject(TAKEN) : Promise.resolve('started');
  });
  expect(result).toBe('started');
  expect(ports).toHaveLength(3);
  expect(ports.every((port) => port >= 20_000 && port <= 29_999)).toBe(true);
});

it('gives up when that happens again and again', async () => {
  await expect(onFreePort(() => Promise.reject(TAKEN))).rejects.toBe(TAKEN);
});

it('does not try again after any other fault', async () => {
  let starts = 0;
  const start = () => {
    starts += 1;
    return Promise.reject(new Error('no such flag'));
  };
  await expect(onFreePort(start)).rejects.toThrow('no such flag');
  expect(starts).toBe(1);
});
