// What runs here. The package's own description is two folders up, whether this is its source or what the published
// package has compiled of it.
import { readFileSync } from 'node:fs';
import type { Versions } from '../http/operator/parts.ts';

const DESCRIPTION = new URL('../../package.json', import.meta.url);

export function readVersions(): Versions {
  const { version } = JSON.parse(readFileSync(DESCRIPTION, 'utf8')) as { readonly version: string };
  return { version, node: process.versions.node };
}
