// Secrets: plain text is encoded, and the values are base64.

import { type KubeObject, mapAt, textAt } from '../api/kube-object.ts';
import { badRequest, invalidValue } from '../api/status.ts';
import type { KindRules } from './kind-rules.ts';

const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const SECRET_RULES: KindRules = {
  complete(object) {
    const isSound = (value: unknown): boolean => typeof value === 'string' && BASE64.test(value);
    if (!Object.values(mapAt(object, 'data')).every(isSound)) {
      // The value is not told: it may be the secret itself.
      throw badRequest('Secret in version "v1" cannot be handled as a Secret: illegal base64 data');
    }
    const { stringData: _, ...rest } = object;
    const data = { ...mapAt(object, 'data'), ...encoded(object) };
    return {
      ...(rest as KubeObject),
      ...(Object.keys(data).length === 0 ? {} : { data }),
      type: textAt(object, 'type') ?? 'Opaque',
    };
  },
  faults: (object, old) =>
    old === undefined || old['type'] === object['type']
      ? []
      : [invalidValue('type', object['type'], 'field is immutable')],
};

function encoded(object: KubeObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(mapAt(object, 'stringData')).map(([key, value]) => [
      key,
      Buffer.from(typeof value === 'string' ? value : '', 'utf8').toString('base64'),
    ]),
  );
}
