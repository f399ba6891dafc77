// One request of one cluster: who it is from, whether he may, and which part answers.

import { type Resource, storageKey, subjectOf } from '../api/resource.ts';
import {
  badRequest,
  forbidden,
  forbiddenPath,
  methodNotAllowed,
  noSuchResource,
  notAcceptable,
  unauthorized,
} from '../api/status.ts';
import type { User } from '../api/user.ts';
import type { Credentials } from '../authn/authenticator.ts';
import { SERVICE_ACCOUNTS } from '../authn/account-tokens.ts';
import type { Cluster } from '../cluster.ts';
import { NAMESPACES } from '../kinds/namespaces.ts';
import { answerPath, impersonationRefused, pageNotFound } from '../discovery/answer-path.ts';
import { answerReview } from '../reviews/answer-review.ts';
import { answerTokenRequest } from './account-token.ts';
import type { Answer, ApiCall } from './answer.ts';
import { type Aim, answerForObjects, answerWith, find } from './objects.ts';
import { readTarget, type RequestTarget, type ResourceTarget } from './request-target.ts';

export interface IncomingCall extends Omit<ApiCall, 'user'> {
  readonly credentials: Credentials;
  readonly impersonates: boolean;
}

/** Throws a StatusError. */
export function answerCall(incoming: IncomingCall): Answer {
  const { cluster, credentials, method, path, query } = incoming;
  const user = cluster.authenticator.userOf(credentials);
  if (user === undefined) throw unauthorized();
  if (incoming.impersonates) throw impersonationRefused();
  const target = readTargetOf(method, path, query);
  authorize(cluster, user, target);
  const call: ApiCall = { ...incoming, user };
  if (target.kind === 'path') return answerPath(call);
  const resource = cluster.resources.find({ ...target, plural: target.resource });
  if (resource === undefined) return answerUnknown(cluster, target);
  if (!acceptsJson(call.accept)) throw notAcceptable();
  return answerResource(call, { resource, target });
}

function readTargetOf(method: string, path: string, query: URLSearchParams): RequestTarget {
  try {
    return readTarget(method, path, query);
  } catch {
    throw badRequest('the path has a part that is no percent-encoded UTF-8');
  }
}

function authorize(cluster: Cluster, user: User, target: RequestTarget): void {
  const wanted = target.kind === 'path' ? { verb: target.verb, path: target.path } : target;
  if (cluster.authorizer.decide(user, wanted).isAllowed) return;
  const who = `User ${JSON.stringify(user.username)} cannot`;
  if (target.kind === 'path') {
    throw forbiddenPath(`forbidden: ${who} ${target.verb} path ${JSON.stringify(target.path)}`);
  }
  const { verb, resource, subresource, group, version, namespace, name } = target;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where =
    namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const known = cluster.resources.find({ group, version, plural: resource });
  const subject = known === undefined ? { kind: resource, group, name } : subjectOf(known, name);
  throw forbidden(subject, `${who} ${verb} resource "${what}" in API group "${group}" ${where}`);
}

function acceptsJson(accept: string): boolean {
  const types = accept.split(',').map((type) => type.split(';')[0]?.trim() ?? '');
  return types.some((type) => ['', '*/*', 'application/*', 'application/json'].includes(type));
}

/** A version that is known says so in its own form. */
function answerUnknown({ resources }: Cluster, { group, version }: ResourceTarget): Answer {
  const groupVersion = group === '' ? version : `${group}/${version}`;
  if (resources.groupVersions().includes(groupVersion)) throw noSuchResource();
  return pageNotFound();
}

function answerResource(call: ApiCall, aim: Aim): Answer {
  if (!isPlace(aim)) throw noSuchResource();
  const review = answerReview(call, aim);
  if (review !== undefined) return review;
  return aim.target.subresource === undefined
    ? answerForObjects(call, aim)
    : answerSubresource(call, aim);
}

/** Whether the resource lies where the path says: in a namespace, or in none; of all namespaces there are lists. */
function isPlace({ resource, target }: Aim): boolean {
  if (target.isInNamespace) return resource.isNamespaced;
  return !resource.isNamespaced || target.isCollection;
}

/** Where each subresource is, and what may be done with it. */
const SUBRESOURCES: Readonly<
  Record<
    string,
    { readonly verbs: readonly string[]; readonly of: (resource: Resource) => boolean }
  >
> = {
  finalize: { verbs: ['update'], of: (resource) => storageKey(resource) === NAMESPACES },
  status: { verbs: ['get', 'patch', 'update'], of: ({ hasStatus }) => hasStatus },
  token: { verbs: ['create'], of: (resource) => storageKey(resource) === SERVICE_ACCOUNTS },
};

function answerSubresource(call: ApiCall, aim: Aim): Answer {
  const { resource, target } = aim;
  const known = SUBRESOURCES[target.subresource ?? ''];
  if (known === undefined || !known.of(resource)) throw noSuchResource();
  if (!known.verbs.includes(target.verb)) throw methodNotAllowed();
  if (target.subresource === 'token') return answerTokenRequest(call, aim);
  return target.verb === 'get'
    ? answerWith(call, aim, find(call, aim))
    : answerForObjects(call, aim);
}
