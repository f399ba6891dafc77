// One rule of a role: what it covers.

import { isJsonObject, type KubeObject, mapsAt, textsAt } from '../api/kube-object.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface PathAttributes {
  /** The method of HTTP, in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

const RULE_FIELDS = [
  'verbs',
  'apiGroups',
  'resources',
  'resourceNames',
  'nonResourceURLs',
] as const;

/** Absent rules are rules. */
export function hasRuleTypes(rules: unknown): boolean {
  if (rules === undefined) return true;
  const isTexts = (value: unknown): boolean =>
    Array.isArray(value) && value.every((item) => typeof item === 'string');
  return (
    Array.isArray(rules) &&
    rules.every(
      (rule) =>
        isJsonObject(rule) &&
        RULE_FIELDS.every((field) => rule[field] === undefined || isTexts(rule[field])),
    )
  );
}

export function rulesOf(role: KubeObject): readonly PolicyRule[] {
  return mapsAt(role, 'rules').map((rule) => ({
    verbs: textsAt(rule, 'verbs'),
    apiGroups: textsAt(rule, 'apiGroups'),
    resources: textsAt(rule, 'resources'),
    resourceNames: textsAt(rule, 'resourceNames'),
    nonResourceURLs: textsAt(rule, 'nonResourceURLs'),
  }));
}

export function covers(rule: PolicyRule, wanted: Attributes): boolean {
  if (!hasOrAll(rule.verbs, wanted.verb)) return false;
  if ('path' in wanted) return rule.nonResourceURLs.some((url) => coversPath(url, wanted.path));
  return (
    hasOrAll(rule.apiGroups, wanted.group) &&
    coversResource(rule.resources, wanted) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(wanted.name ?? ''))
  );
}

function hasOrAll(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function coversResource(
  resources: readonly string[],
  { resource, subresource = '' }: ResourceAttributes,
): boolean {
  if (subresource === '') return hasOrAll(resources, resource);
  return (
    hasOrAll(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
  );
}

function coversPath(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
}

/** The rules in parts that cover one thing each, so that parts can be compared with what somebody has. */
export function partsOf(rule: PolicyRule): readonly PolicyRule[] {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  return rule.verbs.flatMap((verb) => [
    ...rule.nonResourceURLs.map((url) => ({ ...NOTHING, verbs: [verb], nonResourceURLs: [url] })),
    ...rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) =>
        names.map((resourceNames) => ({
          ...NOTHING,
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames,
        })),
      ),
    ),
  ]);
}

const NOTHING: PolicyRule = {
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
};

/** Whether `held` gives all that `part` gives; `part` is one of partsOf. */
export function coversPart(held: PolicyRule, part: PolicyRule): boolean {
  const [verb = ''] = part.verbs;
  const [url] = part.nonResourceURLs;
  if (!hasOrAll(held.verbs, verb)) return false;
  if (url !== undefined) return held.nonResourceURLs.some((own) => coversPath(own, url));
  const [group = ''] = part.apiGroups;
  const [resource = ''] = part.resources;
  return (
    hasOrAll(held.apiGroups, group) &&
    coversResourcePart(held, resource) &&
    coversNamePart(held, part)
  );
}

function coversResourcePart({ resources }: PolicyRule, wanted: string): boolean {
  const [plural, subresource] = wanted.split('/');
  if (hasOrAll(resources, wanted)) return true;
  return subresource !== undefined && plural !== '*' && resources.includes(`*/${subresource}`);
}

function coversNamePart(held: PolicyRule, part: PolicyRule): boolean {
  const [name] = part.resourceNames;
  if (held.resourceNames.length === 0) return true;
  return name !== undefined && held.resourceNames.includes(name);
}
