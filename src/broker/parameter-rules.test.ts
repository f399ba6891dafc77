import { describe, expect, it } from 'vitest';

import { BUILT_IN_PLANS } from '../domain/built-in-plans.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Plan } from '../domain/plan.ts';
import { ParameterRules, parameterSchemaFault } from './parameter-rules.ts';

const rules = new ParameterRules();

function faultOf(planName: string, parameters: JsonObject): string | undefined {
  return faultUnder(planNamed(planName), parameters);
}

function planNamed(planName: string): Plan {
  const plan = BUILT_IN_PLANS.find(({ name }) => name === planName);
  if (plan === undefined) {
    throw new Error(`no plan ${planName}`);
  }
  return plan;
}

function faultOfSchema(create: JsonObject, parameters: JsonObject): string | undefined {
  return faultUnder({ ...planNamed('aws'), schemas: { create, update: {} } }, parameters);
}

function faultUnder(plan: Plan, parameters: JsonObject): string | undefined {
  try {
    rules.checkCreate(plan, parameters);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function faultOfUpdate(planName: string, parameters: JsonObject): string | undefined {
  try {
    rules.checkUpdate(planNamed(planName), parameters);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('parameters of an update', () => {
  it.each<[string, JsonObject]>([
    ['own_cluster', {}],
    ['own_cluster', { kubeconfig: 'text' }],
    ['own_cluster', { name: 'a' }],
    ['sandbox', { name: 'a' }],
    ['aws', { name: 'a' }],
  ])('of plan %s may be %j', (plan, parameters) => {
    expect(faultOfUpdate(plan, parameters)).toBeUndefined();
  });

  it.each<[string, JsonObject, string]>([
    ['own_cluster', { region: 'eu' }, 'parameters.region is not known'],
    ['own_cluster', { kubeConfig: 'text' }, 'parameters.kubeConfig is not known'],
    [
      'own_cluster',
      { kubeconfig: '' },
      'parameters.kubeconfig must NOT have fewer than 1 characters',
    ],
    ['sandbox', { kubeconfig: 'text' }, 'parameters.kubeconfig is not known'],
    ['sandbox', { name: 'a b' }, 'parameters.name must match pattern "^[A-Za-z0-9-]+$"'],
  ])('of plan %s may not be %j', (plan, parameters, fault) => {
    expect(faultOfUpdate(plan, parameters)).toBe(fault);
  });
});

describe('parameters of a new instance', () => {
  it.each<[string, JsonObject]>([
    ['own_cluster', { kubeconfig: 'text' }],
    ['own_cluster', { kubeconfig: 'text', name: 'a', region: 'eu' }],
    ['own_cluster', { kubeconfig: 'text', name: `-${'9'.repeat(63)}` }],
    ['aws', { name: 'Abc-1' }],
  ])('of %s may be %j', (plan, parameters) => {
    expect(faultOf(plan, parameters)).toBeUndefined();
  });

  it.each<[string, JsonObject, string]>([
    ['own_cluster', {}, "parameters must have required property 'kubeconfig'"],
    ['aws', {}, "parameters must have required property 'name'"],
    ['own_cluster', { kubeconfig: 'text', kubeConfig: 'x' }, 'parameters.kubeConfig is not known'],
    ['own_cluster', { kubeconfig: 7 }, 'parameters.kubeconfig must be string'],
    [
      'own_cluster',
      { kubeconfig: 'text', name: '' },
      'parameters.name must NOT have fewer than 1 characters',
    ],
    [
      'own_cluster',
      { kubeconfig: 'text', name: 'a'.repeat(65) },
      'parameters.name must NOT have more than 64 characters',
    ],
    [
      'own_cluster',
      { kubeconfig: 'text', name: 'a_b' },
      'parameters.name must match pattern "^[A-Za-z0-9-]+$"',
    ],
    ['own_cluster', { kubeconfig: 'text', region: null }, 'parameters.region must be string'],
    [
      'own_cluster',
      { kubeconfig: 'text', [`\u001b[2J\r\n${'k'.repeat(500_000)}`]: 1 },
      `parameters.[2J${'k'.repeat(125)} is not known`,
    ],
    [
      'own_cluster',
      { kubeconfig: 'text', region: '😀'.repeat(256) },
      'parameters.region must NOT have more than 255 characters',
    ],
  ])('of %s may not be %j', (plan, parameters, fault) => {
    expect(faultOf(plan, parameters)).toBe(fault);
  });
});

describe('a schema of the configuration', () => {
  it('holds formats', () => {
    const schema = { properties: { mail: { type: 'string', format: 'email' } } };

    expect(faultOfSchema(schema, { mail: 'a@example.org' })).toBeUndefined();
    expect(faultOfSchema(schema, { mail: 'no mail' })).toBe(
      'parameters.mail must match format "email"',
    );
  });

  it('with a pattern that backtracks does not stop the process', () => {
    const schema = { properties: { name: { type: 'string', pattern: '^(a+)+$' } } };
    const beganAt = performance.now();

    // A backtracking engine takes two to the power of its length.
    expect(faultOfSchema(schema, { name: `${'a'.repeat(30)}!` })).toBe(
      'parameters.name must match pattern "^(a+)+$"',
    );
    expect(performance.now() - beganAt).toBeLessThan(5_000);
  });

  it('bounds what is stored on its own, and shows no key of the caller at length', () => {
    expect(faultOfSchema({}, { name: 'n'.repeat(256) })).toBe(
      'parameters.name must NOT have more than 255 characters',
    );
    expect(
      faultOfSchema({ additionalProperties: { type: 'string' } }, { [`\n${'k'.repeat(999)}`]: 1 }),
    ).toBe(`parameters.${'k'.repeat(127)} must be string`);
  });

  it('may have the id of another one', () => {
    const id = 'https://example.org/parameters';

    expect(faultOfSchema({ id, required: ['a'] }, { a: 1 })).toBeUndefined();
    expect(faultOfSchema({ id, required: ['b'] }, { b: 1 })).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['every built-in one', planNamed('own_cluster').schemas.create],
    ['keywords and formats of other tools', { 'x-order': 1, properties: { a: { format: 'x' } } }],
    ["JavaScript's own escapes", { properties: { a: { pattern: '^\\u0041\\d[\\w.-]\\/$' } } }],
    [
      'references inside',
      { definitions: { a: {} }, properties: { a: { $ref: '#/definitions/a' } } },
    ],
  ])('compiles with %s', (_, schema) => {
    expect(parameterSchemaFault(schema)).toBeUndefined();
  });

  it.each<[string, JsonObject, RegExp]>([
    ['a type that is none', { type: 'strin' }, /^a schema that does not compile \(.*type/],
    ['a reference to nothing', { $ref: '#/definitions/a' }, /does not compile \(.*reference/],
    ['a pattern that looks ahead', { properties: { a: { pattern: '(?=a)' } } }, /does not compile/],
    ['what no request could wait for', { $async: true }, /\$async/],
  ])('does not compile with %s', (_, schema, fault) => {
    expect(parameterSchemaFault(schema)).toMatch(fault);
  });
});
