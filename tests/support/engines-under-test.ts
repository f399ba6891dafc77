// The databases that suites of the storage and of the broker run against. One suite for both, so that what works on a
// laptop works in production; races and crashes of several sessions count on PostgreSQL only, and say so.

import { describeWith, type Needs } from './needs.ts';

export type Engine = 'postgres' | 'embedded';

const ENGINES: readonly {
  readonly engine: Engine;
  readonly name: string;
  readonly needs: Needs;
}[] = [
  { engine: 'postgres', name: 'PostgreSQL', needs: { postgres: true } },
  { engine: 'embedded', name: 'the embedded database', needs: {} },
];

/** A suite an engine. `needs` are those of the suite itself, beyond its database. */
export function describeOnEngines(
  title: string,
  needs: Needs,
  body: (engine: Engine) => void,
): void {
  for (const { engine, name, needs: ofEngine } of ENGINES) {
    describeWith({ ...needs, ...ofEngine }, `${title}, on ${name}`, () => body(engine));
  }
}
