// GET on paths that are no resources: discovery, OpenAPI, version, health, metrics, the keys of tokens.

import type { JsonObject } from '../api/kube-object.ts';
import { StatusError } from '../api/status.ts';
import { ISSUER } from '../authn/account-tokens.ts';
import { type Answer, type ApiCall, whole } from '../routes/answer.ts';
import {
  AGGREGATED_TYPE,
  aggregatedGroups,
  coreVersions,
  groupList,
  groupOf,
  resourceList,
  VERSION,
  wantsAggregated,
} from './discovery.ts';
import {
  OPENAPI_V2_PROTOBUF,
  openApiIndex,
  openApiOf,
  openApiV2,
  openApiV2Protobuf,
} from './openapi.ts';
import type { Resources } from './resources.ts';

/** Throws a StatusError. */
export function answerPath(call: ApiCall): Answer {
  const path = call.path.replace(/\/+$/, '') || '/';
  const answer = ['GET', 'HEAD'].includes(call.method)
    ? (PATHS[path]?.(call) ?? answerBelow(call, path))
    : undefined;
  return answer ?? pageNotFound();
}

/** As kube-apiserver does where nothing is registered at a path. */
export function pageNotFound(): Answer {
  return whole('404 page not found\n', 404, { contentType: 'text/plain; charset=utf-8' });
}

const TEXT = { contentType: 'text/plain; charset=utf-8' };

const PATHS: Readonly<Record<string, (call: ApiCall) => Answer>> = {
  '/': () => whole({ paths: ['/api', '/apis', '/healthz', '/metrics', '/openapi/v3', '/version'] }),
  '/api': (call) =>
    wantsAggregated(call.accept)
      ? whole(aggregatedGroups(call.cluster.resources, 'core'), 200, {
          contentType: AGGREGATED_TYPE,
        })
      : whole(coreVersions('')),
  '/apis': (call) =>
    wantsAggregated(call.accept)
      ? whole(aggregatedGroups(call.cluster.resources, 'named'), 200, {
          contentType: AGGREGATED_TYPE,
        })
      : whole(groupList(call.cluster.resources)),
  '/version': () => whole(VERSION),
  '/healthz': () => whole('ok', 200, TEXT),
  '/livez': () => whole('ok', 200, TEXT),
  '/readyz': () => whole('ok', 200, TEXT),
  '/metrics': (call) => whole(call.metrics, 200, TEXT),
  '/openapi/v2': (call) =>
    call.accept.includes('protobuf')
      ? whole(openApiV2Protobuf(), 200, { contentType: OPENAPI_V2_PROTOBUF })
      : whole(openApiV2(call.cluster.resources)),
  '/openapi/v3': (call) => whole(openApiIndex(call.cluster.resources)),
  '/openid/v1/jwks': (call) => whole(call.cluster.tokenKey.publicKeySet()),
  '/.well-known/openid-configuration': () =>
    whole({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }),
};

function answerBelow({ cluster }: ApiCall, path: string): Answer | undefined {
  const found = describedAt(cluster.resources, path.slice(1).split('/'));
  return found === undefined ? undefined : whole(found);
}

function describedAt(resources: Resources, steps: readonly string[]): JsonObject | undefined {
  const [root, ...rest] = steps;
  const below = rest.join('/');
  switch (root) {
    case 'api':
      return rest.length === 1 ? resourceList(resources, below) : undefined;
    case 'apis':
      return rest.length === 1 ? groupOf(resources, below) : resourceList(resources, below);
    case 'openapi':
      return rest[0] === 'v3' ? openApiOf(resources, rest.slice(1).join('/')) : undefined;
    case undefined:
    default:
      return undefined;
  }
}

export function impersonationRefused(): StatusError {
  return new StatusError(403, {
    message: 'a sandbox cluster knows no impersonation',
    reason: 'Forbidden',
  });
}
