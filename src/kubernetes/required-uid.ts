// The uid of an object that a cluster has answered with; one without is no object.

import { malformedAnswer } from './failures.ts';

interface WithUid {
  readonly metadata?: { readonly uid?: string };
}

export function requiredUid(object: WithUid, action: string): string {
  const uid = object.metadata?.uid;
  if (typeof uid !== 'string' || uid === '') {
    throw malformedAnswer(action, 'the object has no uid');
  }
  return uid;
}
