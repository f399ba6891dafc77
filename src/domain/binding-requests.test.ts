import { describe, expect, it } from 'vitest';

import { type Binding, bindingState, type Grant } from './binding.ts';
import { BUILT_IN_PLANS } from './built-in-plans.ts';
import type { InstanceState } from './instance.ts';
import type { Plan } from './plan.ts';
import { takesSlot } from './slots.ts';
import {
  type BindRequest,
  type CreateBindingDecision,
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
    binding({ deletedAt: before(1) }, { ...past, revokingSince: before(1) }),
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
    binding({ deletedAt: before(1) }, { ...past, revokingSince: before(2), endedAt: before(2) }),
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

const READY = { serviceId: 's', planId: 'p', state: 'ready', clusterIsGone: false } as const;
const FREE = { taken: 0, nextFreeAt: undefined, firstByDefaultAt: undefined };
const FULL = { ...FREE, taken: 10, nextFreeAt: after(61) };

function facts(changes: Partial<CreateBindingFacts> = {}): CreateBindingFacts {
  return { instance: READY, plan: OWN_CLUSTER, binding: undefined, slots: FREE, ...changes };
}

const REQUEST: BindRequest = { serviceId: 's', planId: 'p', expirationSeconds: 600 };

function bind(changes: Partial<CreateBindingFacts>, request: Partial<BindRequest> = {}) {
  return decideCreateBinding(facts(changes), { ...REQUEST, ...request }, NOW);
}

/** The decision, or the code of the refusal. */
function short(decided: CreateBindingDecision): string {
  return decided.decision === 'refuse' ? decided.refusal.code : decided.decision;
}

/** A row of the table of docs/api.md, "Bind": what makes it match, and what it answers. */
interface Row {
  readonly condition: string;
  readonly facts?: Partial<CreateBindingFacts>;
  readonly request?: Partial<BindRequest>;
  readonly answer: string;
}

const inState = (state: InstanceState, answer: string): Row => ({
  condition: `the instance is ${state}`,
  facts: { instance: { ...READY, state } },
  answer,
});

const OTHER_PARAMETERS = { expirationSeconds: 900 };

const foundAs = (
  state: keyof typeof STATES,
  { answer, request = {} }: Pick<Row, 'answer' | 'request'>,
): readonly Row[] =>
  STATES[state].map((example, at) => ({
    condition: `it is ${state} (${at}), ${request === OTHER_PARAMETERS ? 'other' : 'same'} parameters`,
    facts: { binding: example },
    request,
    answer,
  }));

/** Rows that exclude each other stand together; of two from different groups, the one from the earlier decides. */
const TABLE: readonly (readonly Row[])[] = [
  [inState('deleted', 'instance-not-found')],
  [
    { condition: 'another service', request: { serviceId: 'other' }, answer: 'unknown-plan' },
    { condition: 'another plan', request: { planId: 'other' }, answer: 'unknown-plan' },
  ],
  [
    inState('provisioning', 'concurrent-operation'),
    inState('deprovisioning', 'concurrent-operation'),
    inState('suspending', 'concurrent-operation'),
    inState('resuming', 'concurrent-operation'),
    inState('create-failed', 'instance-unusable'),
    inState('delete-failed', 'instance-unusable'),
    inState('suspended', 'instance-unusable'),
    {
      condition: 'the cluster is gone',
      facts: { instance: { ...READY, clusterIsGone: true } },
      answer: 'instance-unusable',
    },
  ],
  [
    ...foundAs('live', { answer: 'same' }),
    ...foundAs('live', { answer: 'binding-conflict', request: OTHER_PARAMETERS }),
    ...foundAs('issuing', { answer: 'binding-conflict', request: OTHER_PARAMETERS }),
    ...foundAs('issuing', { answer: 'wait' }),
    ...foundAs('being-deleted', { answer: 'takeOver' }),
    ...foundAs('being-deleted', { answer: 'takeOver', request: OTHER_PARAMETERS }),
    ...foundAs('failed-open', { answer: 'takeOver' }),
    ...foundAs('failed-open', { answer: 'takeOver', request: OTHER_PARAMETERS }),
  ],
  [
    {
      condition: 'the plan is not bindable',
      facts: { plan: { ...OWN_CLUSTER, bindable: false } },
      answer: 'binding-not-supported',
    },
    {
      condition: 'the plan is not known',
      facts: { plan: undefined },
      answer: 'binding-not-supported',
    },
  ],
  [-1, 0, 599, 7201].map((expirationSeconds) => ({
    condition: `${expirationSeconds} seconds`,
    request: { expirationSeconds },
    answer: 'expiration-out-of-bounds',
  })),
  [{ condition: 'the slots are taken', facts: { slots: FULL }, answer: 'binding-limit-reached' }],
  [
    ...STATES.expired.flatMap((example, at) =>
      [{}, OTHER_PARAMETERS].map((request) => ({
        condition: `it has expired (${at}), ${request === OTHER_PARAMETERS ? 'other' : 'same'} parameters`,
        facts: { binding: example },
        request,
        // What was left is ended first; of one that was swept nothing is.
        answer: example.grant.endedAt === undefined ? 'takeOver' : 'issue',
      })),
    ),
    ...foundAs('failed', { answer: 'issue' }),
    ...foundAs('failed', { answer: 'issue', request: OTHER_PARAMETERS }),
    ...foundAs('deleted', { answer: 'issue' }),
    ...foundAs('deleted', { answer: 'issue', request: OTHER_PARAMETERS }),
  ],
  [
    { condition: 'nothing is in the way', answer: 'issue' },
    { condition: 'a slot is left', facts: { slots: { ...FULL, taken: 9 } }, answer: 'issue' },
    inState('updating', 'issue'),
    { condition: 'the least', request: { expirationSeconds: 600 }, answer: 'issue' },
    { condition: 'the most', request: { expirationSeconds: 7200 }, answer: 'issue' },
    { condition: 'no lifetime', request: { expirationSeconds: undefined }, answer: 'issue' },
  ],
];

/** Of both at once; undefined where the later one takes away what makes the earlier one match. */
function both(earlier: Row, later: Row): Row | undefined {
  const [first, second] = [earlier, later].map((row) => [
    ...Object.keys(row.facts ?? {}),
    ...Object.keys(row.request ?? {}),
  ]);
  // Ids and the instance's state are told apart by their own fields; a lifetime of its own is another parameter.
  const clash = first?.some((key) => second?.includes(key)) ?? false;
  const repeats = earlier.facts?.binding !== undefined && earlier.answer !== 'takeOver';
  if (clash || (repeats && 'expirationSeconds' in (later.request ?? {}))) return undefined;
  return {
    condition: `${earlier.condition}, and ${later.condition}`,
    facts: { ...later.facts, ...earlier.facts },
    request: { ...later.request, ...earlier.request },
    answer: earlier.answer,
  };
}

const PAIRS = TABLE.flatMap((group, at) =>
  group.flatMap((earlier) =>
    TABLE.slice(at + 1)
      .flat()
      .flatMap((later) => both(earlier, later) ?? []),
  ),
);

describe('PUT of a binding', () => {
  it.each(TABLE.flat())('$condition: $answer', (row) => {
    expect(short(bind(row.facts ?? {}, row.request))).toBe(row.answer);
  });

  it('is decided by the first row that matches', () => {
    expect(PAIRS.length).toBeGreaterThan(500);
    const decided = PAIRS.map(({ condition, ...row }) => [
      condition,
      short(bind(row.facts ?? {}, row.request)),
    ]);
    expect(decided).toEqual(PAIRS.map(({ condition, answer }) => [condition, answer]));
  });

  it.each<[string, Partial<CreateBindingFacts>, Partial<BindRequest>, string]>([
    [
      'a wrong plan of an instance that is being provisioned',
      { instance: { ...READY, state: 'provisioning' } },
      { planId: 'other' },
      'unknown-plan',
    ],
    [
      'other parameters of one that lives, on a plan that is not bindable any more',
      { binding: STATES.live[0], plan: { ...OWN_CLUSTER, bindable: false } },
      OTHER_PARAMETERS,
      'binding-conflict',
    ],
    [
      'other parameters that are out of bounds, of one that is being issued',
      { binding: STATES.issuing[0], slots: FULL },
      { expirationSeconds: 0 },
      'binding-conflict',
    ],
    [
      'a lifetime out of bounds while the slots are taken',
      { slots: FULL },
      { expirationSeconds: 7201 },
      'expiration-out-of-bounds',
    ],
    [
      'one that has expired, with a lifetime out of bounds',
      { binding: STATES.expired[0] },
      { expirationSeconds: 599 },
      'expiration-out-of-bounds',
    ],
    [
      'one that lives, of an instance that is being deprovisioned',
      { binding: STATES.live[0], instance: { ...READY, state: 'deprovisioning' } },
      {},
      'concurrent-operation',
    ],
  ])('of two reasons, the first: %s', (_, known, request, answer) => {
    expect(short(bind(known, request))).toBe(answer);
  });

  it.each([
    [600, 600],
    [7200, 7200],
    [undefined, 600],
  ])('issues for the lifetime asked for, or the default: %s', (asked, expirationSeconds) => {
    expect(bind({}, { expirationSeconds: asked })).toEqual({
      decision: 'issue',
      expirationSeconds,
      namespace: 'kyma-system',
    });
  });

  it.each([
    [-1, 'expiration_seconds cannot be less than 600'],
    [0, 'expiration_seconds cannot be less than 600'],
    [599, 'expiration_seconds cannot be less than 600'],
    [7201, 'expiration_seconds cannot be greater than 7200'],
  ])('a lifetime of %i seconds: %s', (expirationSeconds, description) => {
    expect(bind({}, { expirationSeconds })).toMatchObject({ refusal: { description } });
  });

  it('compares what requests said: a lifetime that was left out is not the default written out', () => {
    const byDefault = binding({ expirationSeconds: undefined }, issued);
    expect(short(bind({ binding: byDefault }, { expirationSeconds: undefined }))).toBe('same');
    expect(short(bind({ binding: byDefault }))).toBe('binding-conflict');
    expect(short(bind({ binding: STATES.live[0] }, { expirationSeconds: undefined }))).toBe(
      'binding-conflict',
    );
  });

  it('tells the failure of the cluster where what has expired cannot be ended now, else ConcurrencyError', () => {
    expect(bind({ binding: STATES.expired[0] })).toMatchObject({ otherwise: undefined });
    for (const example of [...STATES['being-deleted'], ...STATES['failed-open']]) {
      expect(bind({ binding: example })).toMatchObject({
        grant: example.grant,
        otherwise: { code: 'concurrent-operation' },
      });
    }
  });

  it('says what to do once the cluster does not exist any more', () => {
    expect(bind({ instance: { ...READY, clusterIsGone: true } })).toMatchObject({
      refusal: {
        description:
          'The cluster of the service instance does not exist any more; no binding can be made for it. Delete the instance.',
      },
    });
  });

  it.each([
    ['the first that ends', { nextFreeAt: after(61) }, '2026-06-01T12:01:01.0Z'],
    ['of issues alone, the first', { firstByDefaultAt: before(2) }, '2026-06-01T12:09:58.0Z'],
    [
      'an issue that ends before what lives',
      { nextFreeAt: after(700), firstByDefaultAt: before(0.25) },
      '2026-06-01T12:09:59.7Z',
    ],
    [
      'what lives and ends before an issue',
      { nextFreeAt: after(500), firstByDefaultAt: before(2) },
      '2026-06-01T12:08:20.0Z',
    ],
  ])('says when the next slot frees: %s', (_, ends, at) => {
    expect(bind({ slots: { ...FREE, taken: 10, ...ends } })).toMatchObject({
      refusal: {
        code: 'binding-limit-reached',
        description: `maximum number of non expired bindings reached: 10; next slot frees at ${at}`,
      },
    });
  });

  it('counts the lifetime of an issue by the plan, which may have another default', () => {
    const plan = { ...OWN_CLUSTER, binding: { ...OWN_CLUSTER.binding, defaultSeconds: 3600 } };
    const slots = { ...FREE, taken: 10, firstByDefaultAt: before(0) };
    expect(bind({ plan, slots })).toMatchObject({
      refusal: { description: expect.stringContaining('at 2026-06-01T13:00:00.0Z') as string },
    });
  });

  it('never refuses a repeat because of what is not allowed any more', () => {
    const limits = { defaultSeconds: 900, minSeconds: 900, maxSeconds: 900, maxLive: 1 };
    const strict: Plan = { ...OWN_CLUSTER, bindable: false, binding: limits };
    for (const plan of [strict, undefined]) {
      expect(short(bind({ plan, slots: FULL, binding: STATES.live[0] }))).toBe('same');
    }
  });
});

describe('each cell of the states of a binding', () => {
  /** By docs/api.md, "Bind" and "Unbind"; PUT with the same parameters, and with others as the matrix of OSB has it. */
  const CELLS: readonly [state: string, answers: CellAnswers][] = [
    ['issuing', { put: 'wait', other: '409', get: '404', del: 'revoke', progress: 'in progress' }],
    ['failed', { put: 'issue', other: 'issue', get: '404', del: '410', progress: 'failed' }],
    [
      'failed-open',
      { put: 'takeOver', other: 'takeOver', get: '404', del: 'revoke', progress: 'failed' },
    ],
    ['live', { put: 'same', other: '409', get: 'show', del: 'revoke', progress: 'succeeded' }],
    [
      'being-deleted',
      { put: 'takeOver', other: 'takeOver', get: '404', del: 'revoke', progress: '404' },
    ],
    ['deleted', { put: 'issue', other: 'issue', get: '404', del: '410', progress: '404' }],
  ];

  it.each(CELLS)('%s: %o', (state, answers) => {
    const found = examples.filter((each) => each.state === state);
    expect(found.length).toBeGreaterThan(0);
    for (const { example } of found) expect(answersOf('ready', example)).toEqual(answers);
  });

  it('unknown', () => {
    const answers = { put: 'issue', other: 'issue', get: '404', del: '410', progress: '404' };
    expect(answersOf('ready', undefined)).toEqual(answers);
  });

  it('expired, not swept: DELETE ends it', () => {
    const answers = { get: '404', del: 'revoke', progress: 'succeeded' };
    for (const example of STATES.expired.slice(0, 3)) {
      expect(answersOf('ready', example)).toEqual({
        put: 'takeOver',
        other: 'takeOver',
        ...answers,
      });
    }
  });

  it('expired and swept: DELETE forgets it, once; then it is deleted', () => {
    const [, , , swept] = STATES.expired;
    const answers = { put: 'issue', other: 'issue', get: '404' };
    expect(answersOf('ready', swept)).toEqual({ ...answers, del: 'forget', progress: 'succeeded' });
    const forgotten = { ...swept, deletedAt: NOW };
    expect(answersOf('ready', forgotten)).toEqual({ ...answers, del: '410', progress: '404' });
  });

  it.each<[InstanceState | undefined, Pick<CellAnswers, 'get' | 'del' | 'progress'>]>([
    ['ready', { get: 'show', del: 'revoke', progress: 'succeeded' }],
    ['updating', { get: 'show', del: 'revoke', progress: 'succeeded' }],
    ['provisioning', { get: '404', del: 'revoke', progress: 'succeeded' }],
    ['create-failed', { get: '404', del: 'revoke', progress: 'succeeded' }],
    ['suspending', { get: '404', del: 'revoke', progress: 'succeeded' }],
    ['suspended', { get: '404', del: 'revoke', progress: 'succeeded' }],
    ['resuming', { get: '404', del: 'revoke', progress: 'succeeded' }],
    ['deprovisioning', { get: '404', del: 'revoke', progress: 'succeeded' }],
    ['delete-failed', { get: '404', del: 'revoke', progress: 'succeeded' }],
    ['deleted', { get: '404', del: '410', progress: 'succeeded' }],
  ])('one that lives, of an instance that is %s: %o', (state, answers) => {
    expect(answersOf(state, STATES.live[0])).toMatchObject(answers);
  });

  it.each<InstanceState | undefined>([
    undefined,
    'provisioning',
    'deprovisioning',
    'create-failed',
    'suspended',
    'deleted',
  ])('unknown, of an instance that is %s', (state) => {
    const answers = { get: '404', del: '410', progress: '404' };
    expect(answersOf(state, undefined)).toMatchObject(answers);
  });

  it('answers 410 for what a deleted instance left behind', () => {
    expect(answersOf('deleted', STATES['being-deleted'][0])).toMatchObject({ del: '410' });
  });
});

interface CellAnswers {
  readonly put: string;
  readonly other: string;
  readonly get: string;
  readonly del: string;
  readonly progress: string;
}

function answersOf(state: InstanceState | undefined, example: Binding | undefined): CellAnswers {
  const known = { instance: state, binding: example };
  const shortly = (decided: { decision: string; refusal?: { code: string } }) =>
    (decided.refusal?.code ?? decided.decision)
      .replace(/^.*-not-found$/, '404')
      .replace(/^.*-gone$/, '410')
      .replace(/^.*-conflict$/, '409');
  const progress = decideGetBindingOperation(known, NOW);
  const put = { instance: { ...READY, state: state ?? 'deleted' }, binding: example };
  return {
    put: shortly(bind(put)),
    other: shortly(bind(put, OTHER_PARAMETERS)),
    get: shortly(decideGetBinding(known, NOW)),
    del: shortly(decideDeleteBinding(known, NOW)),
    progress: progress.decision === 'report' ? progress.state : shortly(progress),
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
