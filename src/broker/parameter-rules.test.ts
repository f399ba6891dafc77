import { describe, expect, it } from 'vitest';

import { BUILT_IN_PLANS } from '../domain/built-in-plans.ts';
import type { JsonObject } from '../domain/json.ts';
import { ParameterRules } from './parameter-rules.ts';

const rules = new ParameterRules();

function faultOf(planName: string, parameters: JsonObject): string | undefined {
  const plan = BUILT_IN_PLANS.find(({ name }) => name === planName);
  if (plan === undefined) {
    throw new Error(`no plan ${planName}`);
  }
  try {
    rules.checkCreate(plan, parameters);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

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
  ])('of %s may not be %j', (plan, parameters, fault) => {
    expect(faultOf(plan, parameters)).toBe(fault);
  });
});
