// An object as a version of its resource shows it: versions differ in their name alone.

import type { KubeObject } from '../api/kube-object.ts';

export function shown(object: KubeObject, apiVersion: string): KubeObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}
