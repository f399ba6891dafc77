import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { StatusError } from '../api/status.ts';
import { decodeProtobuf } from './decode-protobuf.ts';

/** A field that has its length in front, and one that is a small number. */
const field = (number: number, value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
};
const small = (number: number, value: number): Buffer => Buffer.from([number << 3, value]);

function object(apiVersion: string, kind: string, content: readonly Buffer[]): Buffer {
  const type = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, Buffer.concat(content))]);
}

describe('an object in the binary form', () => {
  it('is what its JSON would be', () => {
    const metadata = Buffer.concat([
      field(1, 'name'),
      // Go writes these though they are empty.
      field(2, ''),
      small(7, 0),
      field(8, ''),
      field(11, Buffer.concat([field(1, 'a'), field(2, 'b')])),
      field(14, 'example.com/one'),
      field(14, 'example.com/two'),
    ]);
    const data = Buffer.concat([field(1, 'key'), field(2, Buffer.from([0xff, 0x00]))]);
    const decoded = decodeProtobuf(
      object('v1', 'Secret', [field(1, metadata), field(2, data), field(3, 'Opaque'), small(5, 0)]),
    );
    expect(decoded).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'name',
        labels: { a: 'b' },
        finalizers: ['example.com/one', 'example.com/two'],
      },
      data: { key: '/wA=' },
      type: 'Opaque',
      // An optional value counts when it is zero.
      immutable: false,
    });
  });

  it('has times, and numbers below zero', () => {
    const time = Buffer.from([0x08, 0x80, 0xe4, 0xb6, 0xd9, 0x06]);
    const minusOne = Buffer.from([0x50, ...Array.from({ length: 9 }, () => 0xff), 0x01]);
    const metadata = Buffer.concat([field(9, time), minusOne]);
    expect(decodeProtobuf(object('v1', 'ConfigMap', [field(1, metadata)]))).toMatchObject({
      metadata: { deletionTimestamp: '2026-12-25T00:00:00Z', deletionGracePeriodSeconds: -1 },
    });
  });

  it('is refused where something would be lost', () => {
    const unknown = object('v1', 'ConfigMap', [field(15, 'x')]);
    expect(() => decodeProtobuf(unknown)).toThrow('field 15 of core.ConfigMap is not known');
    const custom = object('example.com/v1', 'Thing', []);
    expect(() => decodeProtobuf(custom)).toThrow('Thing of example.com/v1 is read as JSON only');
    const old = object('autoscaling/v1', 'HorizontalPodAutoscaler', []);
    expect(() => decodeProtobuf(old)).toThrow('is read as JSON only');
  });

  it('is refused, whatever the bytes are', () => {
    const head = Buffer.from('k8s\0');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        for (const body of [Buffer.from(bytes), Buffer.concat([head, bytes])]) {
          expect(failureOf(body)).toSatisfy(
            (failure) => failure === undefined || failure instanceof StatusError,
          );
        }
      }),
    );
  });
});

function failureOf(bytes: Buffer): unknown {
  try {
    decodeProtobuf(bytes);
    return undefined;
  } catch (error) {
    return error;
  }
}
