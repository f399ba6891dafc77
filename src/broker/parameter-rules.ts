// Holds the parameters of a request against the plan's published schema (draft-04, as OSB platforms know it), and
// schemas against what can be enforced. Whether what is left makes sense is the provisioner's business.
import type { Plugin } from 'ajv';
import ajvDraft04 from 'ajv-draft-04';
import ajvFormats, { type FormatsPluginOptions } from 'ajv-formats';
import { RE2JS } from 're2js';

import { BrokerError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Plan } from '../domain/plan.ts';
import { cleaned } from '../domain/shown-text.ts';
import { isTooLongToStore, MAX_STORED_CHARACTERS } from '../domain/stored-text.ts';

// Both packages are CommonJS: what they are is a property of what Node imports as the default.
const Ajv = ajvDraft04.default;
const addFormats = ajvFormats as unknown as { readonly default: Plugin<FormatsPluginOptions> };

type Check = ReturnType<InstanceType<typeof Ajv>['compile']>;

/** Columns of their own, whatever a plan's schema lets in. */
const STORED = ['name', 'region'] as const;

export class ParameterRules {
  readonly #ajv = draft04();
  readonly #checks = new WeakMap<JsonObject, Check>();

  /** @throws BrokerError `invalid-parameters` naming the first field that is wrong, never its value */
  checkCreate(plan: Plan, parameters: JsonObject): void {
    this.#check(plan.schemas.create, parameters);
  }

  /** Of the parameters that are given, not of what they are merged into. @throws as `checkCreate` does */
  checkUpdate(plan: Plan, parameters: JsonObject): void {
    this.#check(plan.schemas.update, parameters);
  }

  #check(schema: JsonObject, parameters: JsonObject): void {
    const fault = this.#schemaFault(schema, parameters) ?? lengthFault(parameters);
    if (fault !== undefined) {
      throw new BrokerError({ code: 'invalid-parameters', description: `parameters${fault}` });
    }
  }

  #schemaFault(schema: JsonObject, parameters: JsonObject): string | undefined {
    const check = this.#checkOf(schema);
    if (check(parameters)) {
      return undefined;
    }
    const [fault] = check.errors ?? [];
    return fault === undefined ? ' are invalid' : faultText(fault);
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

/** @returns why a schema cannot be enforced, as a noun phrase; asked before anything is served with it */
export function parameterSchemaFault(schema: JsonObject): string | undefined {
  if (schema['$async'] !== undefined) {
    return 'a schema with $async, which no platform knows';
  }
  try {
    draft04().compile(schema);
    return undefined;
  } catch (error) {
    return `a schema that does not compile (${cleaned((error as Error).message)})`;
  }
}

function draft04() {
  const ajv = new Ajv({
    // Schemas from the configuration may carry keywords of other tools.
    strict: false,
    allErrors: false,
    // It would write to the console, past the log.
    logger: false,
    // Two plans may use the same `id`.
    addUsedSchema: false,
    code: { regExp: linearRegExp },
  });
  addFormats.default(ajv);
  return ajv;
}

/**
 * RE2 takes time in proportion to the text, whatever the pattern: one of a catalog, on a text of a stranger, must not
 * stop everything else. What it does not know, such as looking ahead, throws here.
 */
const linearRegExp = Object.assign(
  (pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)),
  // Ajv's name for the engine in code that it writes out, which nobody asks it to.
  { code: 're2js' },
);

function lengthFault(parameters: JsonObject): string | undefined {
  const tooLong = STORED.find((key) => {
    const value = parameters[key];
    return typeof value === 'string' && isTooLongToStore(value);
  });
  return tooLong && `.${tooLong} must NOT have more than ${MAX_STORED_CHARACTERS} characters`;
}

/** Keys are the caller's own words, in the path too where a schema lets in any. */
function faultText(fault: NonNullable<Check['errors']>[number]): string {
  const path = cleaned(fault.instancePath.replaceAll('/', '.'));
  const extra: unknown = fault.params['additionalProperty'];
  return typeof extra === 'string'
    ? `${path}.${cleaned(extra)} is not known`
    : `${path} ${fault.message ?? 'is invalid'}`;
}
