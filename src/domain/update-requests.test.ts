import { describe, expect, it } from 'vitest';

import type { InstanceState } from './instance.ts';
import {
  type AskedChange,
  decideUpdateInstance,
  mergedParameters,
  type UpdateInstanceFacts,
} from './update-requests.ts';

const NOTHING: AskedChange = { ofPlan: false, ofParameters: false, active: undefined };
const CHANGE: AskedChange = { ...NOTHING, ofParameters: true };
const SUSPEND: AskedChange = { ...NOTHING, active: false };
const RESUME: AskedChange = { ...NOTHING, active: true };
const PLAN: AskedChange = { ...NOTHING, ofPlan: true };

interface Asked {
  readonly asked: AskedChange;
  readonly flag?: boolean;
  readonly same?: boolean;
}

const REQUESTS = {
  'change, flag': { asked: CHANGE },
  'change, no flag': { asked: CHANGE, flag: false },
  'same as what runs, flag': { asked: CHANGE, same: true },
  'no change': { asked: NOTHING, flag: false },
  'no change, flag': { asked: NOTHING },
  'active: false, flag': { asked: SUSPEND },
  'active: false, no flag': { asked: SUSPEND, flag: false },
  'active: true, flag': { asked: RESUME },
  'active: true, no flag': { asked: RESUME, flag: false },
  'another plan, flag': { asked: PLAN },
  'active: false and a change, flag': { asked: { ...CHANGE, active: false } },
  'active: true and a change, flag': { asked: { ...CHANGE, active: true } },
} as const satisfies Readonly<Record<string, Asked>>;

const CE = 'concurrent-operation';
const AR = 'async-required';
const NF = 'instance-not-found';
const NS = 'update-not-supported';
const NU = 'instance-not-updateable';

type Title = keyof typeof REQUESTS;

/** The rows PATCH of the state matrix. A state has one answer a request, in their order. */
const MATRIX: Readonly<Record<InstanceState | 'unknown', string>> = {
  unknown: all(NF),
  deleted: all(NF),
  provisioning: all(CE),
  deprovisioning: all(CE),
  'create-failed': all(NU),
  'delete-failed': all(NU),
  // A change with a flag, without, as what runs; none, none; suspend, resume: with a flag, without; a plan; two at once.
  ready: `update ${AR} update nothing nothing suspend ${AR} nothing nothing ${NS} ${NS} update`,
  updating: `${CE} ${AR} inProgress ${CE} ${CE} ${CE} ${AR} ${CE} ${CE} ${CE} ${CE} ${CE}`,
  suspending: `${CE} ${AR} ${CE} ${CE} ${CE} inProgress ${AR} ${CE} ${AR} ${CE} ${CE} ${CE}`,
  resuming: `${CE} ${AR} ${CE} ${CE} ${CE} ${CE} ${AR} inProgress ${AR} ${CE} ${CE} ${CE}`,
  suspended: `${NU} ${NU} ${NU} nothing nothing nothing nothing resume ${AR} ${NU} ${NU} ${NU}`,
};

function all(answer: string): string {
  return Object.keys(REQUESTS)
    .map(() => answer)
    .join(' ');
}

const CELLS = Object.entries(MATRIX).flatMap(([state, expected]) =>
  Object.keys(REQUESTS).map((title, at) => ({
    state: state as keyof typeof MATRIX,
    title: title as Title,
    expected: expected.split(' ')[at] ?? '',
  })),
);

function decide(state: InstanceState | 'unknown', request: Asked, given: Given = {}): string {
  const decided = decideUpdateInstance({
    current:
      state === 'unknown'
        ? undefined
        : { state, latestFailed: false, clusterIsGone: false, ...given },
    asked: request.asked,
    sameAsRunning: request.same ?? false,
    acceptsIncomplete: request.flag ?? true,
  });
  switch (decided.decision) {
    case 'refuse':
      return decided.refusal.code;
    case 'start':
      return decided.type;
    case 'inProgress':
    case 'nothing':
      return decided.decision;
  }
}

type Given = Partial<NonNullable<UpdateInstanceFacts['current']>>;

describe('C90, C91, C93, C94, C97: a PATCH of an instance', () => {
  it.each(CELLS)('that is $state, with $title: $expected', ({ state, title, expected }) => {
    expect(decide(state, REQUESTS[title])).toBe(expected);
  });

  it('that repeats an update and suspends as well is another one', () => {
    const asked = { ...CHANGE, active: false };
    expect(decide('updating', { asked, same: true })).toBe(CE);
    expect(decide('updating', { asked: { ...CHANGE, active: true }, same: true })).toBe(
      'inProgress',
    );
  });

  it('that repeats an update and names another plan is another one', () => {
    expect(decide('updating', { asked: { ...CHANGE, ofPlan: true }, same: true })).toBe(CE);
  });

  it('repeats a suspension or a resumption that has failed', () => {
    const failed = { latestFailed: true };
    expect(decide('suspended', { asked: SUSPEND }, failed)).toBe('suspend');
    expect(decide('suspended', { asked: SUSPEND, flag: false }, failed)).toBe(AR);
    expect(decide('suspended', { asked: RESUME }, failed)).toBe('resume');
    expect(decide('suspended', { asked: NOTHING }, failed)).toBe('nothing');
  });

  it('changes nothing of an instance whose cluster is gone but its context', () => {
    const gone = { clusterIsGone: true };
    for (const asked of [CHANGE, SUSPEND]) {
      expect(decide('ready', { asked }, gone)).toBe(NU);
    }
    expect(decide('suspended', { asked: RESUME }, gone)).toBe(NU);
    expect(decide('ready', { asked: NOTHING }, gone)).toBe('nothing');
  });
});

describe('C89: parameters of a PATCH', () => {
  it('replace those of the same key, and leave the others', () => {
    const current = { name: 'a', region: 'eu', nested: { left: 1, right: 2 } };
    expect(mergedParameters(current, { name: 'b', nested: { left: 3 } })).toEqual({
      name: 'b',
      region: 'eu',
      nested: { left: 3 },
    });
  });

  it('leave all as it is where there are none', () => {
    expect(mergedParameters({ name: 'a' }, {})).toEqual({ name: 'a' });
  });
});
