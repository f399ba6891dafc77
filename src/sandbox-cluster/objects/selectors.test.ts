import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../api/kube-object.ts';
import { BUILT_IN_RESOURCES } from '../discovery/built-in-resources.ts';
import { readSelection } from './selectors.ts';

const SECRETS = BUILT_IN_RESOURCES.find(({ plural }) => plural === 'secrets');
if (SECRETS === undefined) throw new Error('no secrets');
const resource = SECRETS;

const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 's',
    namespace: 'n',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    labels: { tier: 'front', 'example.com/team': 'a.b', empty: '' },
  },
  type: 'Opaque',
};

function selects(query: Record<string, string>): boolean {
  return readSelection(resource, new URLSearchParams(query)).matches(secret);
}

describe('a label selector', () => {
  it.each([
    ['', true],
    ['tier=front', true],
    ['tier==front', true],
    ['tier=back', false],
    ['tier!=back', true],
    ['missing!=back', true],
    ['missing=', false],
    ['empty=', true],
    ['tier', true],
    ['missing', false],
    ['!missing', true],
    ['! tier', false],
    ['tier in (back,front)', true],
    ['tier in (back)', false],
    ['tier notin (back, side)', true],
    ['missing notin (a)', true],
    ['missing in (a)', false],
    ['example.com/team=a.b', true],
    ['tier=front,example.com/team in (a.b,c),!missing', true],
    ['tier=front,missing', false],
  ])('%j selects: %s', (labelSelector, expected) => {
    expect(selects({ labelSelector })).toBe(expected);
  });

  it.each(['a in (b', 'a=b=c', '=a', 'a,,b', 'a in b', 'a > 1'])('is not %j', (labelSelector) => {
    expect(() => selects({ labelSelector })).toThrow('unable to parse requirement');
  });
});

describe('a field selector', () => {
  it.each([
    ['metadata.name=s', true],
    ['metadata.name==s,metadata.namespace=n', true],
    ['metadata.name!=s', false],
    ['type=Opaque', true],
    ['type!=Opaque', false],
  ])('%j selects: %s', (fieldSelector, expected) => {
    expect(selects({ fieldSelector })).toBe(expected);
  });

  it('knows only the fields of the kind', () => {
    expect(() => selects({ fieldSelector: 'data.a=b' })).toThrow('is not a known field selector');
    expect(() => selects({ fieldSelector: 'nothing' })).toThrow('invalid selector');
  });

  it('that names an object tells its name', () => {
    const query = new URLSearchParams({ fieldSelector: 'type=Opaque,metadata.name=s' });
    expect(readSelection(resource, query).name).toBe('s');
  });
});
