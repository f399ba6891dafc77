// POST on a review: answered at once, kept nowhere.

import { type JsonObject, kubeTime, mapAt } from '../api/kube-object.ts';
import { apiVersionOf } from '../api/resource.ts';
import { methodNotAllowed } from '../api/status.ts';
import { decodeObject } from '../objects/decode.ts';
import { type Answer, type ApiCall, whole } from '../routes/answer.ts';
import type { Aim } from '../routes/objects.ts';
import { readJsonBody } from '../routes/read-body.ts';
import { reviewAccess, reviewedUser, reviewRules } from './access-reviews.ts';
import { reviewSelf, reviewToken } from './identity-reviews.ts';

type Review = (call: ApiCall, spec: JsonObject, aim: Aim) => JsonObject;

const REVIEWS: Readonly<Record<string, Review>> = {
  localsubjectaccessreviews: ({ cluster }, spec, { target }) => {
    const attributes = { ...mapAt(spec, 'resourceAttributes'), namespace: target.namespace };
    return reviewAccess(cluster, reviewedUser(spec), { ...spec, resourceAttributes: attributes });
  },
  selfsubjectaccessreviews: ({ cluster, user }, spec) => reviewAccess(cluster, user, spec),
  selfsubjectreviews: ({ user }) => reviewSelf(user),
  selfsubjectrulesreviews: ({ cluster, user }, spec) => reviewRules(cluster, user, spec),
  subjectaccessreviews: ({ cluster }, spec) => reviewAccess(cluster, reviewedUser(spec), spec),
  tokenreviews: ({ cluster }, spec) => reviewToken(cluster, spec),
};

/** Undefined where the resource is no review. Throws a StatusError. */
export function answerReview(call: ApiCall, aim: Aim): Answer | undefined {
  const { resource, target } = aim;
  const review = REVIEWS[resource.plural];
  if (review === undefined || resource.isCustom) return undefined;
  if (target.verb !== 'create' || target.name !== undefined) throw methodNotAllowed();
  const spec = mapAt(decodeObject(resource, readJsonBody(call)), 'spec');
  return whole(
    {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: { creationTimestamp: kubeTime(call.cluster.clock()) },
      spec,
      status: review(call, spec, aim),
    },
    201,
  );
}
