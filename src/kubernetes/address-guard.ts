// Asks the rules for addresses about a cluster: about an IP literal at once, about a name each time it is resolved for a
// connection, with the very addresses that are then connected to. So a name that changes what it means gains nothing.
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

import { UpstreamError } from '../domain/errors.ts';
import {
  type AddressLaw,
  type Endpoint,
  refusalOfAddress,
  refusalOfName,
  type RefusedKind,
} from './address-rules.ts';

/** A listener or a server of the broker's own; its host may be a name, or stand for all addresses of the machine. */
export interface OwnEndpoint {
  readonly host: string;
  readonly port: number;
}

/** The cluster is at an address that may not be called; `kind` is what a caller may be told of it. */
export class AddressRefusedError extends UpstreamError {
  readonly kind: RefusedKind;

  constructor(kind: RefusedKind) {
    super({
      system: 'cluster',
      action: 'open connection',
      reason: 'address-refused',
      detail: sentenceOfRefusal(kind),
    });
    this.name = 'AddressRefusedError';
    this.kind = kind;
  }
}

/** For callers: what is refused, and not the address. */
export function sentenceOfRefusal(kind: RefusedKind): string {
  return `The address of the cluster is refused: ${WORDS[kind]}.`;
}

const WORDS: Readonly<Record<RefusedKind, string>> = {
  unspecified: 'it is an unspecified address',
  loopback: "it is a loopback address, which would lead to the broker's own machine",
  'link-local': 'it is a link-local address',
  multicast: 'it is a multicast or reserved address',
  metadata: "it is the address of a cloud's metadata service",
  own: 'it belongs to the broker itself',
  denied: 'the configuration of the broker denies it',
};

export interface AddressGuardParts {
  readonly law: AddressLaw;
  /** As they are now: ports are known once something listens. */
  readonly ownEndpoints: () => readonly OwnEndpoint[];
  /** Addresses of this machine, which an endpoint on all of them has. */
  readonly localAddresses: () => readonly string[];
  /** As dns.promises.lookup: all addresses of a name, in the order to try them. */
  readonly resolve: (host: string, options: LookupAllOptions) => Promise<LookupAddress[]>;
}

export class AddressGuard {
  readonly #parts: AddressGuardParts;

  constructor(parts: AddressGuardParts) {
    this.#parts = parts;
  }

  /** What can be said without resolving a name. @returns why the server may not be called, where that is known */
  async refusalOf(server: string): Promise<RefusedKind | undefined> {
    const { host, port } = endpointOf(server);
    return isIP(host) === 0
      ? refusalOfName(host, this.#parts.law)
      : await this.#judge(host, port, [host]);
  }

  /** @throws AddressRefusedError where refusalOf gives a reason */
  async demandAllowed(server: string): Promise<void> {
    const refused = await this.refusalOf(server);
    if (refused !== undefined) throw new AddressRefusedError(refused);
  }

  /** Resolves as Node does, and fails with AddressRefusedError where any of the addresses is refused. */
  lookupFor(server: string): LookupFunction {
    const { port } = endpointOf(server);
    return (hostname, options, callback) => {
      const resolved = this.#resolveAllowed({ host: hostname, port }, { ...options, all: true });
      // By way of the callback form, which an error thrown by the socket's own callback cannot enter a second time.
      callbackify(() => resolved)((fault: Error | null, found) => {
        if (fault !== null) callback(fault, '');
        else answer(callback, options.all === true, found);
      });
    };
  }

  async #resolveAllowed(
    { host, port }: OwnEndpoint,
    options: LookupAllOptions,
  ): Promise<readonly LookupAddress[]> {
    const found = await this.#parts.resolve(host, options);
    const addresses = found.map(({ address }) => address);
    const refused = await this.#judge(host, port, addresses);
    if (refused !== undefined) throw new AddressRefusedError(refused);
    return found;
  }

  async #judge(
    host: string,
    port: number,
    addresses: readonly string[],
  ): Promise<RefusedKind | undefined> {
    const own = await this.#ownAddresses(port);
    return addresses
      .map((address) => refusalOfAddress({ host, address, port }, this.#parts.law, own))
      .find((refused) => refused !== undefined);
  }

  async #ownAddresses(port: number): Promise<readonly Endpoint[]> {
    const hosts = this.#parts.ownEndpoints().filter((endpoint) => endpoint.port === port);
    const resolved = await Promise.all(hosts.map(({ host }) => this.#addressesOf(host)));
    return resolved.flat().map((address) => ({ address, port }));
  }

  async #addressesOf(host: string): Promise<readonly string[]> {
    if (host === '0.0.0.0' || host === '::') return this.#parts.localAddresses();
    if (isIP(host) !== 0) return [host];
    try {
      return (await this.#parts.resolve(host, { all: true })).map(({ address }) => address);
    } catch {
      // A name that leads nowhere now leads a cluster's name nowhere either.
      return [];
    }
  }
}

type LookupCallback = Parameters<LookupFunction>[2];

function answer(
  callback: LookupCallback,
  wantsAll: boolean,
  found: readonly LookupAddress[],
): void {
  const [first] = found;
  if (wantsAll) callback(null, [...found]);
  else callback(null, first?.address ?? '', first?.family ?? 4);
}

/** URL writes IPv4 addresses in one way, however they were spelled. */
export function endpointOf(server: string): OwnEndpoint {
  const { hostname, port } = new URL(server);
  return {
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? HTTPS_PORT : Number(port),
  };
}

const HTTPS_PORT = 443;
