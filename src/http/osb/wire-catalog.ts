// The catalog as it is on the wire (OSB 2.17, Catalog Management). Flags that have a default are sent all the same,
// since platforms read a missing one in different ways; what is not supported is not announced.
import type { Catalog } from '../../broker/get-catalog.ts';
import { bindSchema } from '../../domain/plan-schemas.ts';
import type { Plan } from '../../domain/plan.ts';

/** An offering must have a plan (C38), so one that has none is left out. */
export function fromCatalog({ offering, plans }: Catalog) {
  return { services: plans.length === 0 ? [] : [fromOffering({ offering, plans })] };
}

function fromOffering({ offering, plans }: Catalog) {
  const { id, name, description, displayName } = offering;
  return {
    id,
    name,
    description,
    bindable: true,
    instances_retrievable: true,
    bindings_retrievable: true,
    allow_context_updates: true,
    plan_updateable: false,
    metadata: { displayName },
    plans: plans.map(fromPlan),
  };
}

function fromPlan(plan: Plan) {
  return {
    id: plan.id,
    name: plan.name,
    description: plan.description,
    free: plan.free,
    bindable: plan.bindable,
    binding_rotatable: false,
    plan_updateable: false,
    maximum_polling_duration: plan.maximumPollingSeconds,
    metadata: { displayName: plan.displayName },
    schemas: {
      service_instance: {
        create: { parameters: plan.schemas.create },
        update: { parameters: plan.schemas.update },
      },
      ...(plan.bindable
        ? { service_binding: { create: { parameters: bindSchema(plan.binding) } } }
        : {}),
    },
  };
}
