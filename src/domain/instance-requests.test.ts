import { describe, expect, it } from 'vitest';

import { type InstanceState, instanceState } from './instance.ts';
import type { OperationState, OperationType } from './operation.ts';
import {
  decideCreateInstance,
  decideDeleteInstance,
  decideGetInstance,
} from './instance-requests.ts';

// One line a state (OSB 2.17, Provisioning): identical with the flag, different with the flag, identical and
// different without it. AR and CE are the two fixed errors; 409 is a conflict.
const PUT_MATRIX: readonly [InstanceState | 'unknown', string, string, string, string][] = [
  ['unknown', 'create', 'create', 'AR', 'AR'],
  ['provisioning', 'inProgress', '409', 'AR', 'AR'],
  ['ready', 'exists', '409', 'exists', '409'],
  ['suspended', 'exists', '409', 'exists', '409'],
  ['updating', 'CE', '409', 'CE', 'CE'],
  ['suspending', 'CE', '409', 'CE', 'CE'],
  ['resuming', 'CE', '409', 'CE', 'CE'],
  ['deprovisioning', 'CE', 'CE', 'CE', 'CE'],
  ['deleted', 'create', 'create', 'AR', 'AR'],
  ['create-failed', '409', '409', '409', '409'],
  ['delete-failed', '409', '409', '409', '409'],
];

const SHORT: Readonly<Record<string, string>> = {
  'async-required': 'AR',
  'concurrent-operation': 'CE',
  'instance-conflict': '409',
  'instance-gone': '410',
  'instance-not-found': '404',
  'unknown-plan': '400',
};

interface Decided {
  readonly decision: string;
  readonly refusal?: { readonly code: string };
}

function short(decided: Decided): string {
  return decided.refusal === undefined
    ? decided.decision
    : (SHORT[decided.refusal.code] ?? decided.refusal.code);
}

describe('PUT of an instance', () => {
  it.each(PUT_MATRIX)('%s answers %s, %s, %s, %s', (state, ...expected) => {
    const answers = [
      { sameRequest: true, acceptsIncomplete: true },
      { sameRequest: false, acceptsIncomplete: true },
      { sameRequest: true, acceptsIncomplete: false },
      { sameRequest: false, acceptsIncomplete: false },
    ].map(({ sameRequest, acceptsIncomplete }) =>
      short(
        decideCreateInstance({
          current: state === 'unknown' ? undefined : { state, sameRequest },
          acceptsIncomplete,
        }),
      ),
    );
    expect(answers).toEqual(expected);
  });
});

describe('GET of an instance', () => {
  it.each<[InstanceState | 'unknown', string]>([
    ['unknown', '404'],
    ['provisioning', '404'],
    ['ready', 'show'],
    ['updating', 'show'],
    ['suspending', 'show'],
    ['suspended', 'show'],
    ['resuming', 'show'],
    ['deprovisioning', 'show'],
    ['deleted', '404'],
    ['create-failed', '404'],
    ['delete-failed', 'show'],
  ])('%s: %s', (state, expected) => {
    expect(short(decideGetInstance(state === 'unknown' ? undefined : state))).toBe(expected);
  });
});

describe('DELETE of an instance', () => {
  it.each<[InstanceState | 'unknown', string, string]>([
    ['unknown', '410', '410'],
    ['provisioning', 'accept', 'AR'],
    ['ready', 'accept', 'AR'],
    ['suspended', 'accept', 'AR'],
    ['updating', 'CE', 'AR'],
    ['suspending', 'CE', 'AR'],
    ['resuming', 'CE', 'AR'],
    ['deprovisioning', 'inProgress', 'AR'],
    ['deleted', '410', '410'],
    ['create-failed', 'accept', 'AR'],
    ['delete-failed', 'accept', 'AR'],
  ])('%s answers %s with the flag and %s without', (state, withFlag, without) => {
    const current = state === 'unknown' ? undefined : { state, serviceId: 'service' };
    const answers = [true, false].map((acceptsIncomplete) =>
      short(decideDeleteInstance({ current, serviceId: 'service', acceptsIncomplete })),
    );
    expect(answers).toEqual([withFlag, without]);
  });

  it('cancels a provisioning that runs, and nothing else', () => {
    const decide = (state: InstanceState) =>
      decideDeleteInstance({
        current: { state, serviceId: 'service' },
        serviceId: 'service',
        acceptsIncomplete: true,
      });
    expect(decide('provisioning')).toMatchObject({ cancelsProvisioning: true });
    expect(decide('ready')).toMatchObject({ cancelsProvisioning: false });
  });

  it('refuses the service_id of another offering', () => {
    const decided = decideDeleteInstance({
      current: { state: 'ready', serviceId: 'service' },
      serviceId: 'other',
      acceptsIncomplete: true,
    });
    expect(short(decided)).toBe('400');
  });
});

describe('the state of an instance', () => {
  it.each<[OperationType, OperationState, InstanceState]>([
    ['provision', 'in progress', 'provisioning'],
    ['provision', 'succeeded', 'ready'],
    ['provision', 'failed', 'create-failed'],
    ['update', 'in progress', 'updating'],
    ['update', 'succeeded', 'ready'],
    ['update', 'failed', 'ready'],
    ['deprovision', 'in progress', 'deprovisioning'],
    ['deprovision', 'succeeded', 'deleted'],
    ['deprovision', 'failed', 'delete-failed'],
    ['suspend', 'in progress', 'suspending'],
    ['suspend', 'succeeded', 'suspended'],
    ['suspend', 'failed', 'suspended'],
    ['resume', 'in progress', 'resuming'],
    ['resume', 'succeeded', 'ready'],
    ['resume', 'failed', 'suspended'],
  ])('latest operation %s %s means %s', (type, state, expected) => {
    expect(instanceState({ type, state })).toBe(expected);
  });
});
