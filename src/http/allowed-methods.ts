// Tells "no such route" from "not with this method": the router only knows that nothing matched.
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { HttpRefusal } from './refusal.ts';

export type UnmatchedRequest = (request: FastifyRequest) => HttpRefusal;

/** Learns the routes that are registered after this call; the result says what an unmatched request is. */
export function learnRoutes(server: FastifyInstance): UnmatchedRequest {
  const methodsByPattern = new Map<string, Set<string>>();
  server.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPattern.get(url) ?? new Set();
    for (const each of [method].flat()) {
      methods.add(each);
    }
    methodsByPattern.set(url, methods);
  });
  return (request) => {
    const [path = ''] = (request.raw.url ?? '').split(/[?#]/);
    const matching = [...methodsByPattern].filter(([pattern]) => matches(pattern, path));
    const methods = new Set(matching.flatMap(([, allowed]) => [...allowed]));
    return methods.size === 0
      ? { status: 404, description: 'There is no such route.' }
      : {
          status: 405,
          description: `The route does not take ${request.method}.`,
          headers: { Allow: [...methods].join(', ') },
        };
  };
}

/** A parameter is anything up to the next slash, as it is for the router. */
function matches(pattern: string, path: string): boolean {
  const given = path.split('/');
  const wanted = pattern.split('/');
  return (
    given.length === wanted.length &&
    wanted.every((part, at) => part.startsWith(':') || part === given[at])
  );
}
