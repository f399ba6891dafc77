// Every resource of one cluster: the built-in ones, and those that its CustomResourceDefinitions describe now.

import {
  type JsonObject,
  type KubeObject,
  mapAt,
  mapsAt,
  textAt,
  textsAt,
} from '../api/kube-object.ts';
import { apiVersionOf, type Resource } from '../api/resource.ts';
import { BUILT_IN_RESOURCES, OBJECT_VERBS } from './built-in-resources.ts';

const BUILT_IN = new Map(BUILT_IN_RESOURCES.map((resource) => [keyOf(resource), resource]));

export class Resources {
  readonly #definitions: () => Iterable<KubeObject>;

  constructor(definitions: () => Iterable<KubeObject>) {
    this.#definitions = definitions;
  }

  find(wanted: Pick<Resource, 'group' | 'version' | 'plural'>): Resource | undefined {
    return (
      BUILT_IN.get(keyOf(wanted)) ??
      this.#custom().find((resource) => keyOf(resource) === keyOf(wanted))
    );
  }

  all(): readonly Resource[] {
    return [...BUILT_IN_RESOURCES, ...this.#custom()];
  }

  /** `apps/v1`, sorted as they are listed: the core group first. */
  groupVersions(): readonly string[] {
    return [...new Set(this.all().map(apiVersionOf))];
  }

  #custom(): readonly Resource[] {
    return [...this.#definitions()].flatMap(describedBy);
  }
}

function keyOf({ group, version, plural }: Pick<Resource, 'group' | 'version' | 'plural'>): string {
  return `${group}/${version}/${plural}`;
}

/** One a served version. */
function describedBy(definition: KubeObject): readonly Resource[] {
  const spec = mapAt(definition, 'spec');
  const names = mapAt(spec, 'names');
  const kind = textAt(names, 'kind') ?? '';
  return mapsAt(spec, 'versions')
    .filter((version) => version['served'] === true)
    .map((version) => ({
      group: textAt(spec, 'group') ?? '',
      version: textAt(version, 'name') ?? '',
      plural: textAt(names, 'plural') ?? '',
      singular: textAt(names, 'singular') ?? kind.toLowerCase(),
      kind,
      isNamespaced: textAt(spec, 'scope') === 'Namespaced',
      shortNames: textsAt(names, 'shortNames'),
      categories: textsAt(names, 'categories'),
      verbs: OBJECT_VERBS,
      hasStatus: hasStatus(version),
      hasGeneration: true,
      nameForm: 'subdomain',
      answersWithDeleted: false,
      createsOnUpdate: false,
      isCustom: true,
    }));
}

function hasStatus(version: JsonObject): boolean {
  return mapAt(version, 'subresources')['status'] !== undefined;
}
