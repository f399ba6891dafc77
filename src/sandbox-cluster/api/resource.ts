// What a resource is: its names, where it lies, and how its objects behave. The tables of resources are elsewhere.

import type { Subject } from './status.ts';

/** `label`: as a host name's part. `path-segment`: what RBAC allows, almost everything that fits into a path. */
export type NameForm = 'subdomain' | 'label' | 'path-segment';

export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** As in paths: `configmaps`. */
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** Has a subresource `status` of its own, which a write to the object leaves alone. */
  readonly hasStatus: boolean;
  /** Counts changes of all but metadata and status. */
  readonly hasGeneration: boolean;
  readonly nameForm: NameForm;
  /** DELETE answers with the object, also where nothing is left of it; else with a Status. */
  readonly answersWithDeleted: boolean;
  /** PUT makes what is missing. */
  readonly createsOnUpdate: boolean;
  /** Known by a CustomResourceDefinition. */
  readonly isCustom: boolean;
}

/** Objects of all versions of a resource lie together. */
export function storageKey({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return `${group}/${plural}`;
}

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** For refusals that name the resource. */
export function subjectOf({ group, plural }: Resource, name?: string): Subject {
  return { kind: plural, group, name };
}

/** For refusals of a value, which name the kind. */
export function kindOf({ group, kind }: Resource, name: string): Subject {
  return { kind, group, name };
}
