// Questions about identities: who am I, and whom does a token speak for.

import { type JsonObject, textAt, textsAt } from '../api/kube-object.ts';
import type { User } from '../api/user.ts';
import { ISSUER } from '../authn/account-tokens.ts';
import type { Cluster } from '../cluster.ts';

/** @returns the status of a SelfSubjectReview */
export function reviewSelf(user: User): JsonObject {
  return { userInfo: userInfo(user) };
}

/** @returns the status of a TokenReview. For the API server's own audience it is as late as authentication itself. */
export function reviewToken(cluster: Cluster, spec: JsonObject): JsonObject {
  const token = textAt(spec, 'token') ?? '';
  const asked = textsAt(spec, 'audiences');
  const isOwn = asked.length === 0 || asked.includes(ISSUER);
  const user = isOwn
    ? cluster.authenticator.userOfToken(token)
    : cluster.tokens.userOf(token, asked);
  if (user === undefined) return { user: {}, error: 'invalid bearer token' };
  return {
    authenticated: true,
    user: userInfo(user),
    audiences: isOwn ? [ISSUER] : asked,
  };
}

function userInfo({ username, uid, groups, extra }: User): JsonObject {
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}
