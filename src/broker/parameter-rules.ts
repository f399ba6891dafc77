// Holds the parameters of a request against the plan's published schema (draft-04, as OSB platforms know it).
import ajvDraft04 from 'ajv-draft-04';

import { BrokerError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Plan } from '../domain/plan.ts';

// The package is CommonJS: its class is a property of what Node imports as the default.
const Ajv = ajvDraft04.default;

type Check = ReturnType<InstanceType<typeof Ajv>['compile']>;

export class ParameterRules {
  /** `strict: false`: schemas from the configuration may carry keywords of other tools. */
  readonly #ajv = new Ajv({ strict: false, allErrors: false });
  readonly #checks = new WeakMap<JsonObject, Check>();

  /** @throws BrokerError `invalid-parameters` naming the first field that is wrong, never its value */
  checkCreate(plan: Plan, parameters: JsonObject): void {
    const check = this.#checkOf(plan.schemas.create);
    if (check(parameters)) {
      return;
    }
    const [fault] = check.errors ?? [];
    throw new BrokerError({
      code: 'invalid-parameters',
      description: `parameters${fault === undefined ? ' are invalid' : faultText(fault)}`,
    });
  }

  #checkOf(schema: JsonObject): Check {
    const known = this.#checks.get(schema);
    if (known !== undefined) {
      return known;
    }
    const check = this.#ajv.compile(schema);
    this.#checks.set(schema, check);
    return check;
  }
}

function faultText(fault: NonNullable<Check['errors']>[number]): string {
  const path = fault.instancePath.replaceAll('/', '.');
  const extra: unknown = fault.params['additionalProperty'];
  return typeof extra === 'string'
    ? `${path}.${extra} is not known`
    : `${path} ${fault.message ?? 'is invalid'}`;
}
