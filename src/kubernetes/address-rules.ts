// Which addresses of own clusters may be called (docs/configuration.md, "Addresses of own clusters"): a caller names
// the address and the broker connects from where it stands, so what it alone can reach must not be reachable through it.
// Pure: names are resolved, and the rules are asked, by address-guard.ts.
import { BlockList, isIP } from 'node:net';

import type { AddressPattern, AddressRules } from '../domain/address-pattern.ts';

export type RefusedKind =
  | 'unspecified'
  | 'loopback'
  | 'link-local'
  | 'multicast'
  | 'metadata'
  /** A listener of the broker, its database, or another system of its own. */
  | 'own'
  | 'denied';

export interface Endpoint {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
}

export interface AddressQuestion extends Endpoint {
  /** As the kubeconfig names it; an IP address where it names one. */
  readonly host: string;
}

export interface AddressLaw extends AddressRules {
  /** Where the public listener is on loopback itself, so that everybody who reaches it reaches loopback. */
  readonly allowsLoopback: boolean;
}

/** @returns why the address is refused; undefined where it may be called. */
export function refusalOfAddress(
  question: AddressQuestion,
  law: AddressLaw,
  own: readonly Endpoint[],
): RefusedKind | undefined {
  const spellings = spellingsOf(question.address);
  const matches = (pattern: AddressPattern) => matchesPattern(pattern, question.host, spellings);
  if (law.deny.some(matches)) return 'denied';
  // Before what is allowed: nobody's cluster is where the broker itself listens, whatever network was allowed.
  if (own.some((endpoint) => isSameEndpoint(endpoint, question.port, spellings))) return 'own';
  if (law.allow.some(matches)) return undefined;
  return REFUSED.find(
    ({ kind, networks }) =>
      !(kind === 'loopback' && law.allowsLoopback) &&
      spellings.some((spelling) => contains(networks, spelling)),
  )?.kind;
}

/** Names that are judged without being resolved. @returns as refusalOfAddress */
export function refusalOfName(host: string, law: AddressRules): RefusedKind | undefined {
  const matches = (pattern: AddressPattern) => matchesPattern(pattern, host, []);
  if (law.deny.some(matches)) return 'denied';
  if (law.allow.some(matches)) return undefined;
  return METADATA_NAMES.has(withoutDot(host)) ? 'metadata' : undefined;
}

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'instance-data.ec2.internal',
]);

interface RefusedNetworks {
  readonly kind: RefusedKind;
  readonly networks: BlockList;
}

/** The first that contains the address names the kind, so the narrower ones come first. */
const REFUSED: readonly RefusedNetworks[] = [
  {
    kind: 'metadata',
    networks: networksOf([
      // Most clouds; ECS task credentials; AWS over IPv6; Alibaba; Azure's wire server; Oracle.
      '169.254.169.254/32',
      '169.254.170.2/32',
      'fd00:ec2::254/128',
      'fd20:ce::254/128',
      '100.100.100.200/32',
      '168.63.129.16/32',
      '192.0.0.192/32',
    ]),
  },
  // "This network" as a whole: systems connect 0.x.y.z to themselves or nowhere (RFC 1122, 3.2.1.3).
  { kind: 'unspecified', networks: networksOf(['0.0.0.0/8', '::/128']) },
  { kind: 'loopback', networks: networksOf(['127.0.0.0/8', '::1/128']) },
  { kind: 'link-local', networks: networksOf(['169.254.0.0/16', 'fe80::/10']) },
  // Broadcast, and what is reserved around it, reaches nobody in particular either.
  { kind: 'multicast', networks: networksOf(['224.0.0.0/4', '240.0.0.0/4', 'ff00::/8']) },
];

function networksOf(texts: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of texts) {
    const [address = '', length] = text.split('/');
    networks.addSubnet(address, Number(length), familyOf(address));
  }
  return networks;
}

function contains(networks: BlockList, address: string): boolean {
  return networks.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

function matchesPattern(
  pattern: AddressPattern,
  host: string,
  spellings: readonly string[],
): boolean {
  if (pattern.kind === 'host') {
    return matchesName(pattern.name, withoutDot(host));
  }
  const network = new BlockList();
  network.addSubnet(pattern.address, pattern.prefixLength, pattern.family);
  return spellings.some((spelling) => contains(network, spelling));
}

function matchesName(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}

function withoutDot(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

function isSameEndpoint(own: Endpoint, port: number, spellings: readonly string[]): boolean {
  if (own.port !== port) return false;
  const ours = new BlockList();
  for (const spelling of spellingsOf(own.address)) ours.addAddress(spelling, familyOf(spelling));
  return spellings.some((spelling) => contains(ours, spelling));
}

/**
 * The address, and the IPv4 addresses that it leads to by what it holds: IPv4-mapped, -compatible and -translated, NAT64,
 * 6to4. The IPv6 ones themselves stay in the list, for networks that an operator names by them.
 */
function spellingsOf(address: string): readonly string[] {
  const [bare = ''] = address.split('%');
  if (isIP(bare) !== 6) return [bare];
  const groups = groupsOf(bare);
  // :: and ::1 have names of their own, and are no IPv4 addresses.
  if (groups.slice(0, -1).every((group) => group === 0) && (groups.at(-1) ?? 0) <= 1) return [bare];
  const found = EMBEDDINGS.filter(({ prefix }) =>
    prefix.every((group, at) => groups[at] === group),
  ).map(({ at }) => ipv4Of(groups[at] ?? 0, groups[at + 1] ?? 0));
  return [bare, ...new Set(found)];
}

/** Where a kind of IPv6 address, known by its first groups, holds an IPv4 address. */
const EMBEDDINGS: readonly { readonly prefix: readonly number[]; readonly at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 },
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 },
  // NAT64, well-known (RFC 6052) and for local use (RFC 8215).
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 1], at: 6 },
  { prefix: [0x2002], at: 1 },
];

/** The eight groups of an IPv6 address that Node takes for one. */
function groupsOf(address: string): readonly number[] {
  const plain = address.replace(/[\d.]+$/, (end) => (isIP(end) === 4 ? twoGroupsOf(end) : end));
  const [head = [], tail] = plain
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))));
  if (tail === undefined) return head;
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return [...head, ...zeros, ...tail];
}

function twoGroupsOf(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
