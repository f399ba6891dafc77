import { expect, it } from 'vitest';
import { BrokerError, UpstreamError, type UpstreamReason } from '../domain/errors.ts';
import { StillHonouredError } from '../kubernetes/ask-with-token.ts';
import { Circuits } from './circuits.ts';

const START = Date.parse('2026-03-01T12:00:00.000Z');

function circuitsWithClock() {
  let now = START;
  const circuits = new Circuits({ clock: () => new Date(now), drawFraction: () => 0 });
  return {
    circuits,
    at: (seconds: number) => {
      now = START + seconds * 1000;
      return circuits.stateOf('a');
    },
  };
}

function failure(reason: UpstreamReason, retryAfterSeconds?: number): UpstreamError {
  return new UpstreamError({
    system: 'cluster',
    action: 'delete serviceaccounts',
    reason,
    detail: 'test',
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

it.each<UpstreamReason>([
  'unreachable',
  'timed-out',
  'cut',
  'tls',
  'unauthorized',
  'too-many-requests',
  'malformed-answer',
  'address-refused',
  'cancelled',
])('%s says something about the whole cluster', (reason) => {
  const { circuits, at } = circuitsWithClock();
  circuits.failed('a', failure(reason));
  expect(at(0)).toBe('open');
  expect(circuits.stateOf('b')).toBe('closed');
});

it.each([
  ['a right that is missing', failure('forbidden')],
  ['a conflict', failure('conflict')],
  ['an internal error', failure('server-error')],
  ['a token that is honoured', new StillHonouredError('200')],
  ['a writer at work', new BrokerError({ code: 'concurrent-operation', description: 'busy' })],
])('%s concerns one grant alone', (_, error) => {
  const { circuits, at } = circuitsWithClock();
  circuits.failed('a', error);
  expect(at(0)).toBe('closed');
});

it.each([
  ['another cluster', new BrokerError({ code: 'other-cluster', description: 'another' })],
  ['access that cannot be opened', new Error('sealed')],
  ['an error that names a time', failure('server-error', 30)],
])('%s concerns all of its grants', (_, error) => {
  const { circuits, at } = circuitsWithClock();
  circuits.failed('a', error);
  expect(at(0)).toBe('open');
});

it('is half open after a delay that grows with each failure, up to a quarter of an hour', () => {
  const { circuits, at } = circuitsWithClock();
  let seconds = 0;
  for (const delay of [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]) {
    circuits.failed('a', failure('unreachable'));
    expect(at(seconds + delay - 0.001)).toBe('open');
    seconds += delay;
    expect(at(seconds)).toBe('half-open');
  }
});

it('counts what was under way when it opened as the same failure', () => {
  const { circuits, at } = circuitsWithClock();
  for (let count = 0; count < 4; count += 1) circuits.failed('a', failure('timed-out'));
  expect(at(4.999)).toBe('open');
  expect(at(5)).toBe('half-open');
  circuits.failed('a', failure('timed-out'));
  expect(at(14.999)).toBe('open');
  expect(at(15)).toBe('half-open');
});

it('stays open for as long as the cluster asks, whatever fails meanwhile', () => {
  const { circuits, at } = circuitsWithClock();
  circuits.failed('a', failure('too-many-requests', 800));
  circuits.failed('a', failure('cut'));
  expect(at(799.999)).toBe('open');
  expect(at(800)).toBe('half-open');
});

it('closes on success, says so once, and begins anew', () => {
  const { circuits, at } = circuitsWithClock();
  expect(circuits.succeeded('a')).toBe(false);
  circuits.failed('a', failure('cut'));
  at(5);
  circuits.failed('a', failure('cut'));
  expect(circuits.succeeded('a')).toBe(true);
  expect(circuits.succeeded('a')).toBe(false);
  expect(at(5)).toBe('closed');
  expect([...circuits.keys()]).toEqual([]);
  circuits.failed('a', failure('cut'));
  expect(at(10)).toBe('half-open');
});
