// `clusterAddresses` of the configuration file: networks as CIDR (or one address), and host names.
import { isIP } from 'node:net';
import type { AddressPattern, AddressRules } from '../domain/address-pattern.ts';
import type { Kind } from './kinds.ts';
import { mappingAt, type Place, readSection } from './section.ts';

const HOST = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?$/;

const MAX_HOST_LENGTH = 253;

const patterns: Kind<readonly AddressPattern[]> = {
  allowed:
    'a list of networks (10.0.0.0/8, fd00::/8), addresses and host names (api.example.org, *.example.org)',
  read: (value) => {
    if (!Array.isArray(value)) {
      return undefined;
    }
    const read = value.map(readPattern);
    return read.every((pattern) => pattern !== undefined) ? read : undefined;
  },
};

export function readAddressRules(value: unknown, place: Place): AddressRules {
  const kinds = { allow: patterns, deny: patterns };
  const { allow = [], deny = [] } = readSection(mappingAt(value, place), { kinds }, place);
  return { allow, deny };
}

function readPattern(value: unknown): AddressPattern | undefined {
  if (typeof value !== 'string') {
    return undefined;
  }
  const text = value.toLowerCase();
  return readNetwork(text) ?? readHost(text);
}

function readNetwork(text: string): AddressPattern | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) {
    return undefined;
  }
  const longest = version === 4 ? 32 : 128;
  const prefixLength = length === undefined ? longest : Number(length);
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || prefixLength > longest)) {
    return undefined;
  }
  return { kind: 'network', family: version === 4 ? 'ipv4' : 'ipv6', address, prefixLength };
}

/** A name of digits and dots alone would be an address with a slip in it. */
function readHost(text: string): AddressPattern | undefined {
  const isName = HOST.test(text) && text.length <= MAX_HOST_LENGTH && !/^[\d.]+$/.test(text);
  return isName ? { kind: 'host', name: text.replace(/\.$/, '') } : undefined;
}
