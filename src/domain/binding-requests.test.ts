import { describe, expect, it } from 'vitest';

import { type Binding, bindingState, type Grant } from './binding.ts';
import { BUILT_IN_PLANS } from './built-in-plans.ts';
import type { InstanceState } from './instance.ts';
import type { Plan } from './plan.ts';
import { takesSlot } from './slots.ts';
import {
  type CreateBindingFacts,
  decideCreateBinding,
  decideDeleteBinding,
  decideGetBinding,
  decideGetBindingOperation,
} from './binding-requests.ts';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const before = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

function grant(changes: Partial<Grant> = {}): Grant {
  return {
    id: 'grant',
    name: 'kyma-binding-b-0123456789',
    instanceKey: 'key',
    bindingId: 'b',
    namespace: 'kyma-system',
    intendedAt: before(1),
    issuingUntil: after(29),
    replicaSeenAt: before(1),
    uids: undefined,
    issuedAt: undefined,
    expiresAt: undefined,
    revokingSince: undefined,
    endedAt: undefined,
    ...changes,
  };
}

function binding(changes: Partial<Omit<Binding, 'grant'>>, itsGrant: Partial<Grant>): Binding {
  return {
    instanceKey: 'key',
    id: 'b',
    expirationSeconds: 600,
    createdBy: 'someone',
    createdAt: before(1),
    deletedAt: undefined,
    ...changes,
    grant: grant(itsGrant),
  };
}

const uids = { account: 'a', role: 'r', roleBinding: 'rb' };
const issued = { uids, issuedAt: before(100), expiresAt: after(500) };
const past = { uids, issuedAt: before(700), expiresAt: before(100) };

/** One example of each state that a binding can be in, with every way to get there. */
const STATES = {
  issuing: [binding({}, {})],
  'failed-open': [
    binding({}, { revokingSince: before(1) }),
    binding({}, { issuingUntil: NOW }),
    binding({}, { replicaSeenAt: before(6.001) }),
    binding({}, { replicaSeenAt: undefined }),
  ],
  failed: [binding({}, { revokingSince: before(2), endedAt: before(1) })],
  live: [binding({}, issued), binding({}, { ...issued, issuingUntil: before(70) })],
  'being-deleted': [
    binding({ deletedAt: before(1) }, { ...issued, revokingSince: before(1) }),
    binding({ deletedAt: before(1) }, { revokingSince: before(1) }),
    binding({}, { ...issued, revokingSince: before(1) }),
  ],
  expired: [
    binding({}, past),
    binding({}, { ...past, expiresAt: NOW }),
    binding({}, { ...past, revokingSince: before(1) }),
    binding({}, { ...past, revokingSince: before(2), endedAt: before(1) }),
  ],
  deleted: [
    binding({ deletedAt: before(2) }, { ...issued, revokingSince: before(2), endedAt: before(1) }),
    binding({ deletedAt: before(2) }, { revokingSince: before(2), endedAt: before(1) }),
    binding({}, { ...issued, revokingSince: before(2), endedAt: before(1) }),
  ],
} as const;

const examples = Object.entries(STATES).flatMap(([state, bindings]) =>
  bindings.map((example, at) => ({ state, at, example })),
);

describe('the state of a binding', () => {
  it.each(examples)('$state, example $at', ({ state, example }) => {
    expect(bindingState(example, NOW)).toBe(state);
  });

  it('still counts a replica as alive when it was seen six seconds ago', () => {
    expect(bindingState(binding({}, { replicaSeenAt: before(6) }), NOW)).toBe('issuing');
  });
});

const OWN_CLUSTER = BUILT_IN_PLANS.find((plan) => plan.name === 'own_cluster') as Plan;

function facts(changes: Partial<CreateBindingFacts> = {}): CreateBindingFacts {
  return {
    instance: { serviceId: 's', planId: 'p', state: 'ready', clusterIsGone: false },
    plan: OWN_CLUSTER,
    binding: undefined,
    slots: { taken: 0, nextFreeAt: undefined },
    ...changes,
  };
}

const REQUEST = { serviceId: 's', planId: 'p', expirationSeconds: 600 };

function bind(changes: Partial<CreateBindingFacts>, request: Partial<typeof REQUEST> = {}) {
  return decideCreateBinding(facts(changes), { ...REQUEST, ...request }, NOW);
}

describe('PUT of a binding', () => {
  it('issues what is unknown, with the lifetime asked for', () => {
    expect(bind({})).toEqual({
      decision: 'issue',
      expirationSeconds: 600,
      namespace: 'kyma-system',
    });
    expect(bind({}, { expirationSeconds: 7200 })).toMatchObject({
      decision: 'issue',
      expirationSeconds: 7200,
    });
  });

  it('issues with the default lifetime of the plan where the request names none', () => {
    const request = { serviceId: 's', planId: 'p', expirationSeconds: undefined };
    expect(decideCreateBinding(facts(), request, NOW)).toMatchObject({
      decision: 'issue',
      expirationSeconds: 600,
    });
  });

  it.each<[string, string, string]>([
    ['issuing', 'wait', 'binding-conflict'],
    ['failed-open', 'takeOver', 'takeOver'],
    ['failed', 'issue', 'issue'],
    ['live', 'same', 'binding-conflict'],
    ['being-deleted', 'takeOver', 'takeOver'],
    ['deleted', 'issue', 'issue'],
  ])('%s: %s with the same parameters, %s with others', (state, same, different) => {
    for (const { example } of examples.filter((each) => each.state === state)) {
      for (const [expirationSeconds, expected] of [
        [600, same],
        [900, different],
      ] as const) {
        const decided = bind({ binding: example }, { expirationSeconds });
        expect(decided.decision === 'refuse' ? decided.refusal.code : decided.decision).toBe(
          expected,
        );
      }
    }
  });

  it('ends what an expired binding left before it issues anew, and needs not where it was swept', () => {
    const [left, , beingSwept, swept] = STATES.expired;
    expect(bind({ binding: left })).toMatchObject({ decision: 'takeOver', otherwise: undefined });
    expect(bind({ binding: beingSwept })).toMatchObject({ decision: 'takeOver' });
    expect(bind({ binding: swept })).toMatchObject({ decision: 'issue' });
  });

  it('answers ConcurrencyError where the end of an earlier attempt cannot be reached now', () => {
    expect(bind({ binding: STATES['being-deleted'][0] })).toMatchObject({
      otherwise: { code: 'concurrent-operation' },
    });
  });

  it.each<[InstanceState, string]>([
    ['provisioning', 'concurrent-operation'],
    ['deprovisioning', 'concurrent-operation'],
    ['suspending', 'concurrent-operation'],
    ['resuming', 'concurrent-operation'],
    ['create-failed', 'instance-unusable'],
    ['delete-failed', 'instance-unusable'],
    ['suspended', 'instance-unusable'],
    ['deleted', 'instance-not-found'],
  ])('is refused while the instance is %s: %s', (state, code) => {
    const instance = { serviceId: 's', planId: 'p', state, clusterIsGone: false };
    expect(bind({ instance, binding: STATES.live[0] })).toMatchObject({ refusal: { code } });
  });

  it('is refused once the cluster does not exist any more', () => {
    const instance = { serviceId: 's', planId: 'p', state: 'ready', clusterIsGone: true } as const;
    expect(bind({ instance })).toMatchObject({
      refusal: {
        code: 'instance-unusable',
        description:
          'The cluster of the service instance does not exist any more; no binding can be made for it. Delete the instance.',
      },
    });
  });

  it('is served while the instance is updated', () => {
    const instance = {
      serviceId: 's',
      planId: 'p',
      state: 'updating',
      clusterIsGone: false,
    } as const;
    expect(bind({ instance })).toMatchObject({ decision: 'issue' });
  });

  it('checks the ids before the state', () => {
    const instance = {
      serviceId: 's',
      planId: 'p',
      state: 'provisioning',
      clusterIsGone: false,
    } as const;
    for (const request of [{ planId: 'other' }, { serviceId: 'other' }]) {
      expect(bind({ instance }, request)).toMatchObject({ refusal: { code: 'unknown-plan' } });
    }
  });

  it.each<[number, string | undefined]>([
    [0, 'expiration_seconds cannot be less than 600'],
    [-1, 'expiration_seconds cannot be less than 600'],
    [599, 'expiration_seconds cannot be less than 600'],
    [600, undefined],
    [7200, undefined],
    [7201, 'expiration_seconds cannot be greater than 7200'],
  ])('a lifetime of %i seconds: %s', (expirationSeconds, description) => {
    const decided = bind({}, { expirationSeconds });
    expect(decided.decision === 'refuse' ? decided.refusal.description : undefined).toBe(
      description,
    );
  });

  it('refuses when ten slots are taken, and says when the next one frees', () => {
    expect(bind({ slots: { taken: 9, nextFreeAt: undefined } })).toMatchObject({
      decision: 'issue',
    });
    expect(bind({ slots: { taken: 10, nextFreeAt: after(61) } })).toMatchObject({
      refusal: {
        code: 'binding-limit-reached',
        description:
          'maximum number of non expired bindings reached: 10; next slot frees at 2026-06-01T12:01:01.0Z',
      },
    });
    expect(bind({ slots: { taken: 11, nextFreeAt: undefined } })).toMatchObject({
      refusal: { description: 'maximum number of non expired bindings reached: 10' },
    });
  });

  it('never refuses a repeat because of what is not allowed any more', () => {
    const strict: Plan = {
      ...OWN_CLUSTER,
      bindable: false,
      binding: { defaultSeconds: 900, minSeconds: 900, maxSeconds: 900, maxLive: 1 },
    };
    const slots = { taken: 10, nextFreeAt: undefined };
    expect(bind({ plan: strict, slots, binding: STATES.live[0] })).toMatchObject({
      decision: 'same',
    });
    expect(bind({ plan: undefined, slots, binding: STATES.live[0] })).toMatchObject({
      decision: 'same',
    });
  });

  it('refuses something new on a plan that is not bindable or not known, before bounds and slots', () => {
    const slots = { taken: 10, nextFreeAt: undefined };
    for (const plan of [{ ...OWN_CLUSTER, bindable: false }, undefined]) {
      expect(bind({ plan, slots }, { expirationSeconds: 1 })).toMatchObject({
        refusal: { code: 'binding-not-supported' },
      });
    }
  });

  it('checks the bounds before the slots', () => {
    expect(
      bind({ slots: { taken: 10, nextFreeAt: undefined } }, { expirationSeconds: 1 }),
    ).toMatchObject({ refusal: { code: 'expiration-out-of-bounds' } });
  });
});

describe('GET, DELETE and last_operation of a binding', () => {
  it.each<[string, string, string, string]>([
    ['issuing', '404', 'revoke', 'in progress'],
    ['failed', '404', '410', 'failed'],
    ['failed-open', '404', 'revoke', 'failed'],
    ['live', 'show', 'revoke', 'succeeded'],
    ['being-deleted', '404', 'revoke', '404'],
    ['deleted', '404', '410', '404'],
  ])('%s: GET %s, DELETE %s, last_operation %s', (state, get, del, progress) => {
    for (const { example } of examples.filter((each) => each.state === state)) {
      expect(answersOf('ready', example)).toEqual({ get, del, progress });
    }
  });

  it('expired: GET 404, DELETE once, last_operation succeeded, swept or not', () => {
    const [left, , , swept] = STATES.expired;
    expect(answersOf('ready', left)).toEqual({ get: '404', del: 'revoke', progress: 'succeeded' });
    expect(answersOf('ready', swept)).toEqual({ get: '404', del: 'forget', progress: 'succeeded' });
  });

  it('unknown: GET 404, DELETE 410, last_operation 404', () => {
    expect(answersOf('ready', undefined)).toEqual({ get: '404', del: '410', progress: '404' });
    expect(answersOf(undefined, undefined)).toEqual({ get: '404', del: '410', progress: '404' });
  });

  it.each<InstanceState>(['suspended', 'suspending', 'deprovisioning', 'delete-failed', 'deleted'])(
    'hands out nothing while the instance is %s',
    (state) => {
      expect(answersOf(state, STATES.live[0])).toMatchObject({ get: '404' });
    },
  );

  it('answers 410 for what a deleted instance left behind', () => {
    expect(answersOf('deleted', STATES['being-deleted'][0])).toMatchObject({ del: '410' });
  });
});

function answersOf(instance: InstanceState | undefined, example: Binding | undefined) {
  const known = { instance, binding: example };
  const short = (decided: { decision: string; refusal?: { code: string } }) =>
    decided.refusal === undefined
      ? decided.decision
      : decided.refusal.code.replace(/^.*-not-found$/, '404').replace(/^.*-gone$/, '410');
  const progress = decideGetBindingOperation(known, NOW);
  return {
    get: short(decideGetBinding(known, NOW)),
    del: short(decideDeleteBinding(known, NOW)),
    progress: progress.decision === 'report' ? progress.state : short(progress),
  };
}

describe('a slot', () => {
  it.each<[string, Partial<Grant>, boolean]>([
    ['announced', {}, true],
    ['announced, its lease lapsed', { issuingUntil: before(100) }, true],
    ['failed, not undone', { revokingSince: before(1) }, false],
    ['issued', issued, true],
    ['expired', past, false],
    ['expiring this moment', { ...issued, expiresAt: NOW }, false],
    ['being revoked', { ...issued, revokingSince: before(1) }, true],
    ['revoked', { ...issued, revokingSince: before(2), endedAt: before(1) }, false],
  ])('%s: %s', (_, changes, expected) => {
    expect(takesSlot(grant(changes), NOW)).toBe(expected);
  });
});
