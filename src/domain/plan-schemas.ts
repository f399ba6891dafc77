// The schemas (draft-04, the one draft that every platform knows) of the parameters that our own plans take.
import type { JsonObject } from './json.ts';
import type { BindingRules, PlanSchemas } from './plan.ts';

const DRAFT_04 = 'http://json-schema.org/draft-04/schema#';

const NAME_PROPERTY: JsonObject = {
  type: 'string',
  title: 'Name',
  description: 'Names the cluster, context and user in issued kubeconfigs',
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9-]+$',
};

/** As long as any text that is stored may be (C47). */
const REGION_PROPERTY: JsonObject = {
  type: 'string',
  title: 'Region',
  minLength: 1,
  maxLength: 255,
};

function objectSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return {
    $schema: DRAFT_04,
    type: 'object',
    properties,
    additionalProperties: false,
    // Draft-04 allows no empty list here.
    ...(required.length === 0 ? {} : { required }),
  };
}

/** The schema of a bind request's parameters, which follows from the plan's rules. */
export function bindSchema(rules: BindingRules): JsonObject {
  return objectSchema({
    expiration_seconds: {
      type: 'integer',
      title: 'Lifetime of the credential in seconds',
      minimum: rules.minSeconds,
      maximum: rules.maxSeconds,
      default: rules.defaultSeconds,
    },
  });
}

export const KYMA_SCHEMAS: PlanSchemas = {
  create: objectSchema({ name: NAME_PROPERTY, region: REGION_PROPERTY }, ['name']),
  update: objectSchema({ name: NAME_PROPERTY }),
};

export const SANDBOX_SCHEMAS: PlanSchemas = {
  create: objectSchema({ name: NAME_PROPERTY, region: REGION_PROPERTY }),
  update: objectSchema({ name: NAME_PROPERTY }),
};

const KUBECONFIG_PROPERTY: JsonObject = {
  type: 'string',
  title: 'Kubeconfig',
  description: 'A kubeconfig (YAML or JSON text) whose current context administers the cluster',
  minLength: 1,
};

export const OWN_CLUSTER_SCHEMAS: PlanSchemas = {
  create: objectSchema(
    { name: NAME_PROPERTY, region: REGION_PROPERTY, kubeconfig: KUBECONFIG_PROPERTY },
    ['kubeconfig'],
  ),
  update: objectSchema({ name: NAME_PROPERTY, kubeconfig: KUBECONFIG_PROPERTY }),
};
