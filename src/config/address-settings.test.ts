import { describe, expect, it } from 'vitest';

import { readAddressRules } from './address-settings.ts';
import type { ConfigFault } from './faults.ts';

function read(value: unknown) {
  const faults: ConfigFault[] = [];
  const rules = readAddressRules(value, { path: 'clusterAddresses', faults });
  return { rules, paths: faults.map(({ path }) => path) };
}

describe('clusterAddresses', () => {
  it('takes networks, addresses and host names', () => {
    const allow = ['10.0.0.0/8', '192.0.2.1', 'FD00::/8', 'API.example.org', '*.example.org.'];

    expect(read({ allow })).toEqual({
      rules: {
        allow: [
          { kind: 'network', family: 'ipv4', address: '10.0.0.0', prefixLength: 8 },
          { kind: 'network', family: 'ipv4', address: '192.0.2.1', prefixLength: 32 },
          { kind: 'network', family: 'ipv6', address: 'fd00::', prefixLength: 8 },
          { kind: 'host', name: 'api.example.org' },
          { kind: 'host', name: '*.example.org' },
        ],
        deny: [],
      },
      paths: [],
    });
  });

  it('is empty unless set', () => {
    expect(read(undefined)).toEqual({ rules: { allow: [], deny: [] }, paths: [] });
  });

  it.each([
    [{ deny: '10.0.0.0/8' }, 'clusterAddresses.deny'],
    [{ deny: [10] }, 'clusterAddresses.deny'],
    [{ deny: ['10.0.0.0/33'] }, 'clusterAddresses.deny'],
    [{ deny: ['10.0.0.0/'] }, 'clusterAddresses.deny'],
    [{ deny: ['10.0.0/8'] }, 'clusterAddresses.deny'],
    [{ deny: ['10.0.0.256'] }, 'clusterAddresses.deny'],
    [{ deny: ['fd00::/129'] }, 'clusterAddresses.deny'],
    [{ deny: ['https://example.org'] }, 'clusterAddresses.deny'],
    [{ deny: ['ex*mple.org'] }, 'clusterAddresses.deny'],
    [{ deny: [''] }, 'clusterAddresses.deny'],
    [{ denny: [] }, 'clusterAddresses.denny'],
  ])('refuses %j, named', (value, path) => {
    expect(read(value).paths).toEqual([path]);
  });
});
