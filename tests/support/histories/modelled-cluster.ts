// A cluster as far as grants go: which of their objects are there, and whether it can be reached.
import type { Stop } from './history.ts';

const KINDS = ['account', 'role', 'role binding'] as const;

type Kind = (typeof KINDS)[number];

/** What is there when a writer stops: all that does not wait for the call at which it does. */
const MADE_BY_THEN: Readonly<Record<Stop, readonly Kind[]>> = {
  'before the account': ['role', 'role binding'],
  'after the account': KINDS,
  'before the token': KINDS,
  'after the token': KINDS,
  'before the role': ['account', 'role binding'],
  'before the role binding': ['account', 'role'],
};

export class ModelledCluster {
  isUp = true;
  readonly #objects = new Map<string, Set<Kind>>();

  /** Makes what is missing, or what is there when its writer stops. @returns false when the cluster is away */
  make(grant: string, stop?: Stop): boolean {
    if (!this.isUp) return false;
    const kinds = stop === undefined ? KINDS : MADE_BY_THEN[stop];
    this.#objects.set(grant, new Set([...(this.#objects.get(grant) ?? []), ...kinds]));
    return true;
  }

  /** @returns false when the cluster is away */
  remove(grant: string): boolean {
    if (this.isUp) this.#objects.delete(grant);
    return this.isUp;
  }

  hasAll(grant: string): boolean {
    return this.#objects.get(grant)?.size === KINDS.length;
  }

  grants(): readonly string[] {
    return [...this.#objects.keys()];
  }

  /** The grant's name, once for each object. */
  objects(): readonly string[] {
    return [...this.#objects].flatMap(([name, kinds]) => [...kinds].map(() => name));
  }
}
