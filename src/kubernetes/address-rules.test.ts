import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { AddressPattern } from '../domain/address-pattern.ts';
import { type AddressLaw, refusalOfAddress, refusalOfName } from './address-rules.ts';

const NO_RULES: AddressLaw = { allow: [], deny: [], allowsLoopback: false };

function network(address: string, prefixLength: number): AddressPattern {
  return {
    kind: 'network',
    family: address.includes(':') ? 'ipv6' : 'ipv4',
    address,
    prefixLength,
  };
}

function judge(address: string, law: Partial<AddressLaw> = {}, host = address) {
  return refusalOfAddress({ host, address, port: 443 }, { ...NO_RULES, ...law }, []);
}

/** As URL has it, which is what is called in the end. */
function literal(spelling: string): string {
  return new URL(`https://${spelling}`).hostname.replaceAll(/[[\]]/g, '');
}

describe('an address', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['febf::1', 'link-local'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['255.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
  ])('%s is refused as %s', (address, kind) => {
    expect(judge(address)).toBe(kind);
  });

  it.each([
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.100.100.201',
    '169.253.255.255',
    '223.255.255.255',
    '8.8.8.8',
    'fd00::1',
    '2001:db8::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('%s may be called', (address) => {
    expect(judge(address)).toBeUndefined();
  });

  it.each([
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['0:0:0:0:0:ffff:7f00:0001', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['::ffff:0:127.0.0.1', 'loopback'],
    ['64:ff9b::127.0.0.1', 'loopback'],
    ['64:ff9b:1::7f00:1', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['2002:a9fe:a9fe::1', 'metadata'],
    ['::ffff:0.0.0.0', 'unspecified'],
  ])('%s is refused for the IPv4 address in it, as %s', (address, kind) => {
    expect(judge(address)).toBe(kind);
  });

  it.each([
    ['2130706433', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['0x7f.1', 'loopback'],
    ['0177.0.0.1', 'loopback'],
    ['127.1', 'loopback'],
    ['127.0.0.1.', 'loopback'],
    ['１２７.0.0.1', 'loopback'],
    ['0', 'unspecified'],
    ['0xa9fea9fe', 'metadata'],
    ['[::FFFF:7F00:1]', 'loopback'],
    ['[0000:0000::0001]', 'loopback'],
  ])('spelled %s in a URL is refused as %s', (spelling, kind) => {
    expect(judge(literal(spelling))).toBe(kind);
  });

  it('that is refused stays so in every IPv6 form that holds it', () => {
    const octet = fc.nat(255);
    const forms = fc.constantFrom(
      '::ffff:$',
      '::ffff:0:$',
      '64:ff9b::$',
      '64:ff9b:1::$',
      '64:ff9b:1:ab:cd:ef:$',
    );
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), forms, (octets, form) => {
        const address = octets.join('.');
        expect(judge(form.replace('$', address))).toBe(judge(address));
      }),
    );
  });

  it('is judged alike however it is written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(judge(literal(`[${address}]`))).toBe(judge(address));
      }),
    );
  });

  it('of the numbers of IPv4 is judged alike in each of its spellings', () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), (number) => {
        const dotted = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
        for (const spelling of [`${number}`, `0x${number.toString(16)}`]) {
          expect(judge(literal(spelling))).toBe(judge(dotted));
        }
      }),
    );
  });
});

describe('loopback', () => {
  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
    '%s may be called where the public listener is on loopback',
    (address) => {
      expect(judge(address, { allowsLoopback: true })).toBeUndefined();
    },
  );

  it('does not bring other kinds with it', () => {
    expect(judge('0.0.0.0', { allowsLoopback: true })).toBe('unspecified');
    expect(judge('169.254.169.254', { allowsLoopback: true })).toBe('metadata');
  });
});

describe('the configuration', () => {
  it.each([
    ['169.254.1.1', { allow: [network('169.254.0.0', 16)] }, undefined],
    ['::ffff:169.254.1.1', { allow: [network('169.254.0.0', 16)] }, undefined],
    ['10.1.2.3', { deny: [network('10.0.0.0', 8)] }, 'denied'],
    ['::ffff:10.1.2.3', { deny: [network('10.0.0.0', 8)] }, 'denied'],
    ['64:ff9b::10.1.2.3', { deny: [network('10.0.0.0', 8)] }, 'denied'],
    ['64:ff9b::8.8.8.8', { deny: [network('64:ff9b::', 96)] }, 'denied'],
    ['11.1.2.3', { deny: [network('10.0.0.0', 8)] }, undefined],
    ['10.1.2.3', { deny: [network('0.0.0.0', 0)], allow: [network('10.1.2.3', 32)] }, 'denied'],
    ['fd00::1', { deny: [network('fd00::', 8)] }, 'denied'],
  ] as const)('judges %s by %j: %s', (address, law, kind) => {
    expect(judge(address, law)).toBe(kind);
  });

  it.each([
    ['api.example.org', 'api.example.org', undefined],
    ['API.example.org.', 'api.example.org', undefined],
    ['api.example.org', '*.example.org', undefined],
    ['a.b.example.org', '*.example.org', undefined],
    ['example.org', '*.example.org', 'link-local'],
    ['badexample.org', '*.example.org', 'link-local'],
    ['api.example.org.evil.test', 'api.example.org', 'link-local'],
  ])('that allows a name: %s by %s: %s', (host, name, kind) => {
    expect(judge('169.254.1.1', { allow: [{ kind: 'host', name }] }, host)).toBe(kind);
  });
});

describe('what is the broker’s own', () => {
  const own = [{ address: '10.0.0.5', port: 5432 }];
  const question = { host: 'db', address: '10.0.0.5', port: 5432 };

  it('is refused, also in other forms and where its network is allowed', () => {
    const law = { ...NO_RULES, allow: [network('10.0.0.0', 8)] };

    expect(refusalOfAddress(question, NO_RULES, own)).toBe('own');
    expect(refusalOfAddress(question, law, own)).toBe('own');
    expect(refusalOfAddress({ ...question, address: '::ffff:10.0.0.5' }, law, own)).toBe('own');
  });

  it('is its port and not its machine', () => {
    expect(refusalOfAddress({ ...question, port: 6443 }, NO_RULES, own)).toBeUndefined();
    expect(refusalOfAddress({ ...question, address: '10.0.0.6' }, NO_RULES, own)).toBeUndefined();
  });
});

describe('a name', () => {
  it.each([
    ['metadata.google.internal', 'metadata'],
    ['Metadata.Google.Internal.', 'metadata'],
    ['api.example.org', undefined],
    ['denied.example.org', 'denied'],
  ])('%s is judged before it is resolved: %s', (host, kind) => {
    const deny = [{ kind: 'host', name: 'denied.example.org' } as const];

    expect(refusalOfName(host, { allow: [], deny })).toBe(kind);
  });
});
