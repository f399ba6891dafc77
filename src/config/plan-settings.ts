// Plans as the configuration file changes and adds them: `plans.<name>` merges by key with the built-in plan of that
// name. A new plan starts from the first built-in one that its provisioner makes.
import { BUILT_IN_PLANS } from '../domain/built-in-plans.ts';
import { type BindingRules, type Plan, PROVISIONER_NAMES } from '../domain/plan.ts';
import { kindOf } from './faults.ts';
import type { Judges } from './judges.ts';
import { flag, integerBetween, oneOf, parameterSchema, textLike, textUpTo } from './kinds.ts';
import { below, mappingAt, type Place, readSection, type Section } from './section.ts';

/** What Cloud Controller stores of a description. */
const MAX_DESCRIPTION_CHARACTERS = 10_000;

/** What OSB 2.17 asks platforms to take for any other text. */
const MAX_TEXT_CHARACTERS = 255;

/** A week; platforms give up long before. */
const MAX_POLLING_SECONDS = 7 * 24 * 60 * 60;

/** The shortest lifetime that an API server grants: it refuses a TokenRequest of less. */
const MIN_LIFETIME_SECONDS = 600;

/** What the ledger's column of requested lifetimes holds: 68 years, and half of what a TokenRequest may ask for. */
const MAX_LIFETIME_SECONDS = 2 ** 31 - 1;

/** A guard against a slipped zero: each live binding is an administrator's account on a tenant's cluster. */
const MAX_LIVE_BINDINGS = 1_000;

const seconds = integerBetween(MIN_LIFETIME_SECONDS, MAX_LIFETIME_SECONDS);

const PLAN_KINDS = {
  id: textUpTo(MAX_TEXT_CHARACTERS),
  description: textUpTo(MAX_DESCRIPTION_CHARACTERS),
  displayName: textUpTo(MAX_TEXT_CHARACTERS),
  enabled: flag,
  bindable: flag,
  free: flag,
  provisioner: oneOf(PROVISIONER_NAMES),
  namespace: textLike(
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    'the name of a Kubernetes namespace (up to 63 lower-case letters, digits and dashes)',
  ),
  maximumPollingSeconds: integerBetween(1, MAX_POLLING_SECONDS),
};

const BINDING_KINDS = {
  defaultSeconds: seconds,
  minSeconds: seconds,
  maxSeconds: seconds,
  maxLive: integerBetween(1, MAX_LIVE_BINDINGS),
};

/** Of binding, what `binding` says is enforced. */
const SCHEMA_KINDS = { create: parameterSchema, update: parameterSchema };

/** As command lines and platforms take it (C34), and as a key of a file. */
const PLAN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Where plans are, and who judges their schemas. */
export interface PlanPlace extends Place {
  readonly judgeSchema: Judges['parameterSchema'];
}

/** All plans, in the order of the built-in ones, then that of the file; faulty ones are left out. */
export function readPlans(value: unknown, place: PlanPlace): readonly Plan[] {
  const given = mappingAt(value, place);
  const plans: Plan[] = [];
  for (const builtIn of BUILT_IN_PLANS) {
    const mapping = Object.hasOwn(given, builtIn.name) ? given[builtIn.name] : undefined;
    plans.push(changedPlan(builtIn, mapping, below(place, builtIn.name)));
  }
  for (const [name, mapping] of Object.entries(given)) {
    if (!BUILT_IN_PLANS.some((plan) => plan.name === name)) {
      plans.push(...newPlan(name, mapping, below(place, name)));
    }
  }
  noteSharedIds(plans, place);
  return plans;
}

interface PlanSections {
  readonly plan: Section<typeof PLAN_KINDS>;
  readonly binding: Section<typeof BINDING_KINDS>;
  readonly schemas: Section<typeof SCHEMA_KINDS>;
}

function readPlanSections(value: unknown, place: PlanPlace): PlanSections {
  const mapping = mappingAt(value, place);
  const subsection = (key: string) => mappingAt(mapping[key], below(place, key));
  return {
    plan: readSection(mapping, { kinds: PLAN_KINDS, subsections: ['binding', 'schemas'] }, place),
    binding: readSection(subsection('binding'), { kinds: BINDING_KINDS }, below(place, 'binding')),
    schemas: readSchemas(subsection('schemas'), below(place, 'schemas')),
  };
}

function readSchemas(
  mapping: Readonly<Record<string, unknown>>,
  place: PlanPlace,
): Section<typeof SCHEMA_KINDS> {
  const schemas = readSection(mapping, { kinds: SCHEMA_KINDS }, place);
  for (const [key, schema] of Object.entries(schemas)) {
    const found = place.judgeSchema(schema);
    if (found !== undefined) {
      place.faults.push({ path: below(place, key).path, found, allowed: parameterSchema.allowed });
    }
  }
  return schemas;
}

function changedPlan(base: Plan, value: unknown, place: PlanPlace): Plan {
  return merged(base, readPlanSections(value, place), place);
}

function newPlan(name: string, value: unknown, place: PlanPlace): readonly Plan[] {
  if (!PLAN_NAME.test(name)) {
    place.faults.push({
      path: place.path,
      found: 'a name with other characters or of another length',
      allowed: 'a plan name of up to 63 letters, digits, dots, dashes and underscores',
    });
  }
  const sections = readPlanSections(value, place);
  noteMissingKeys(value, place);
  const { id, description, provisioner, displayName = name } = sections.plan;
  const base = BUILT_IN_PLANS.find((plan) => plan.provisioner === provisioner);
  if (id === undefined || description === undefined || base === undefined) {
    return [];
  }
  return [merged({ ...base, id, name, description, displayName }, sections, place)];
}

function noteMissingKeys(value: unknown, place: Place): void {
  const mapping = mappingAt(value, { path: place.path, faults: [] });
  for (const key of ['id', 'description', 'provisioner'] as const) {
    if (mapping[key] === undefined) {
      place.faults.push({
        path: below(place, key).path,
        found: kindOf(mapping[key]),
        allowed: `${PLAN_KINDS[key].allowed}, since the plan is not a built-in one`,
      });
    }
  }
}

function merged(base: Plan, { plan, binding, schemas }: PlanSections, place: Place): Plan {
  const rules: BindingRules = { ...base.binding, ...binding };
  noteOrder(rules, below(place, 'binding'));
  return { ...base, ...plan, binding: rules, schemas: { ...base.schemas, ...schemas } };
}

function noteOrder({ defaultSeconds, minSeconds, maxSeconds }: BindingRules, place: Place): void {
  if (minSeconds > maxSeconds) {
    place.faults.push({
      path: below(place, 'minSeconds').path,
      found: `the number ${minSeconds}`,
      allowed: `at most maxSeconds, which is ${maxSeconds}`,
    });
  } else if (defaultSeconds < minSeconds || defaultSeconds > maxSeconds) {
    place.faults.push({
      path: below(place, 'defaultSeconds').path,
      found: `the number ${defaultSeconds}`,
      allowed: `a whole number from minSeconds to maxSeconds, ${minSeconds} to ${maxSeconds}`,
    });
  }
}

function noteSharedIds(plans: readonly Plan[], place: Place): void {
  for (const [at, plan] of plans.entries()) {
    const earlier = plans.slice(0, at).find(({ id }) => id === plan.id);
    if (earlier !== undefined) {
      place.faults.push({
        path: below(below(place, plan.name), 'id').path,
        found: `the id of plan ${earlier.name}`,
        allowed: 'an id that no other plan has',
      });
    }
  }
}
