// Addresses to listen on, as `host:port`, an IPv6 one in brackets.
import { BlockList, isIP } from 'node:net';
import type { ListenAddress } from './config.ts';

export const LISTEN_ADDRESS_FORM =
  'host:port, such as 127.0.0.1:8080 or [::1]:8080 (port 0 picks a free one)';

const FORM = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):(\d{1,5})$/i;

const MAX_PORT = 65_535;

/** @returns undefined where the text has another form */
export function readListenAddress(text: string): ListenAddress | undefined {
  const [, named = '', digits] = FORM.exec(text) ?? [];
  const port = Number(digits);
  const host = named.replaceAll(/[[\]]/g, '');
  const isRightKind = host === named || isIP(host) === 6;
  return host !== '' && isRightKind && port <= MAX_PORT ? { host, port } : undefined;
}

/** Whether only this machine can reach it. Names are not resolved: only `localhost` is known to be one. */
export function isLoopback({ host }: ListenAddress): boolean {
  const family = isIP(host);
  if (family === 0) {
    return host.toLowerCase() === 'localhost';
  }
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
