// Ports for real parts that must be told a number. Drawn below the range that the kernel gives to outgoing connections
// (from 32768 on Linux), so that a port stays ours while its server is down and nobody else's client is given it.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 29_999;

/** Test files draw at the same time; with this many draws a machine would have to be full for all to fail. */
const DRAWS = 50;

async function drawFreePort(): Promise<number> {
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${DRAWS} ports between ${LOWEST_PORT} and ${HIGHEST_PORT} was free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Between the draw and the server's own bind another process may take the port: then draw again. */
const STARTS = 5;

/** Calls `start` with a drawn port, again with another one while it fails because the port was taken. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await drawFreePort());
    } catch (fault) {
      if (attempt === STARTS || !/address already in use/i.test(String(fault))) throw fault;
    }
  }
}
