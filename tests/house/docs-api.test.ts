// Holds docs/api.md and the two servers to each other: every route that is served has its row in the page's table, and
// every row is a route that is served. What a route answers is for other tests to say.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';

import { closedAuthenticator } from '../../src/http/auth/closed.ts';
import { createOperatorServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { refusingServer, unreachedBroker } from '../support/refusing-server.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');

/** The page says once that these are the same routes again. */
const OTHER_MOUNTS = /^(\w+) \/oauth\//;

/** As `METHOD /path/{id}`. */
function documented(): readonly string[] {
  const rows = PAGE.match(/^\| \[[^|]+/gm) ?? [];
  return rows.flatMap((row) =>
    [...row.matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, name = '']) => name),
  );
}

function operatorServer() {
  return createOperatorServer({
    authenticator: closedAuthenticator(),
    broker: unreachedBroker(),
    isServing: () => true,
    log: createLogger({ level: 'silent', format: 'json' }, { write: () => undefined }),
    versions: { version: '0.0.0', node: '0.0.0' },
    readiness: () => Promise.reject(new Error('nobody asks')),
    figures: () => Promise.reject(new Error('nobody asks')),
  });
}

/** From the tree that the router prints, a line a path below that of the line it hangs on: `├── /path (GET, PUT)`. */
function routesOf(tree: string): readonly string[] {
  const parents: string[] = [];
  return [...tree.matchAll(/^([│ ]*)[├└]── (\S+) \((.+)\)$/gm)].flatMap(
    ([, indent = '', part = '', methods = '']) => {
      const depth = indent.length / '│   '.length;
      const path = `${parents[depth - 1] ?? ''}${part}`;
      parents[depth] = path;
      const shown = path.replace(/:\w*id\b/g, '{id}');
      return methods.split(', ').map((method) => `${method} ${shown}`);
    },
  );
}

describe('docs/api.md', () => {
  const served = new Set<string>();

  beforeAll(async () => {
    for (const server of [refusingServer().server, operatorServer()]) {
      await server.ready();
      const routes = routesOf(server.printRoutes({ commonPrefix: false }));
      for (const name of routes.filter((each) => !OTHER_MOUNTS.test(each))) served.add(name);
    }
  });

  it('has a row for each route that is served', () => {
    expect([...served].filter((name) => !documented().includes(name))).toEqual([]);
  });

  it('has rows of routes that are served, and of no other', () => {
    expect(documented().filter((name) => !served.has(name))).toEqual([]);
    expect(documented().length).toBeGreaterThan(0);
  });
});
