// R: what platforms tell of themselves (OSB 2.17, profile.md). All of it may be there, none of it must.

import { describe, expect, it } from 'vitest';
import { freshId, type OpenSubject } from '../subject.ts';

const CONTEXTS: readonly [string, unknown][] = [
  ['C150: none', undefined],
  ['C150: null', null],
  ['C150: an empty one', {}],
  ['C149: a platform that nobody knows', { platform: 'spaceship' }],
  [
    'C149: that of Cloud Foundry',
    {
      platform: 'cloudfoundry',
      organization_guid: '1113aa0-124e-4af2-1526-6bfacf61b111',
      organization_name: 'system',
      organization_annotations: { 'prefix/name': 'value' },
      space_guid: 'aaaa1234-da91-4f12-8ffa-b51d0336aaaa',
      space_name: 'development',
      space_annotations: {},
      instance_name: 'my-db',
      instance_annotations: {},
    },
  ],
  [
    'C149: that of Kubernetes',
    {
      platform: 'kubernetes',
      namespace: 'development',
      namespace_annotations: { 'prefix/name': 'value' },
      clusterid: '8263feba-9b8a-23ae-99ed-abcd1234feda',
      instance_name: 'my-db',
      instance_annotations: {},
    },
  ],
  [
    'C149: that of SAP',
    {
      platform: 'sapcp',
      globalaccount_id: 'g',
      subaccount_id: 's',
      user_id: 'Somebody@Example.com',
      region: 'cf-eu10',
      env_type: 'cloudfoundry',
    },
  ],
];

export function contextCases(open: OpenSubject): void {
  describe('a context', () => {
    it.each(CONTEXTS)('%s: an instance is provisioned and bound with it', async (_, context) => {
      const subject = open();
      const changes = context === undefined ? {} : { context };
      const instance = await subject.provision(changes);
      const bound = await subject.bind(instance, freshId(), changes);
      const repeat = await subject.put(instance, changes);
      await subject.deprovision(instance);

      expect([bound.status, repeat.status]).toEqual([201, 200]);
    });

    it('C149: may change with every request: names are not what an instance is', async () => {
      const subject = open();
      const instance = await subject.instance();
      for (const [, context] of CONTEXTS) {
        const changes = { organization_guid: freshId(), space_guid: freshId(), context };
        expect((await subject.put(instance, changes)).status).toBe(200);
      }
    });
  });
}
