// POST …/serviceaccounts/{name}/token: a TokenRequest, answered with a token of the account.

import { type JsonObject, kubeTime, mapAt, textAt, textsAt } from '../api/kube-object.ts';
import { conflict, invalid, invalidValue, type Subject, StatusError } from '../api/status.ts';
import { ISSUER } from '../authn/account-tokens.ts';
import { decodeObject } from '../objects/decode.ts';
import { type Answer, type ApiCall, whole } from './answer.ts';
import { type Aim, find } from './objects.ts';
import { readJsonBody } from './read-body.ts';

const GROUP = 'authentication.k8s.io';
const TOKEN_REQUEST: Subject = { kind: 'TokenRequest', group: GROUP };

/** Bounds and default of Kubernetes. */
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 3_600;

/** Throws a StatusError. */
export function answerTokenRequest(call: ApiCall, aim: Aim): Answer {
  const account = find(call, aim);
  const request = decodeObject(
    { kind: 'TokenRequest', group: GROUP, version: 'v1' },
    readJsonBody(call),
  );
  const { name, namespace = '', uid } = account.metadata;
  const spec = mapAt(request, 'spec');
  if (spec['boundObjectRef'] !== undefined) {
    throw new StatusError(422, {
      message: 'a sandbox cluster binds tokens to service accounts only',
      reason: 'Invalid',
    });
  }
  const asked = readSeconds(spec);
  const wantedUid = textAt(request.metadata, 'uid');
  if (wantedUid !== undefined && wantedUid !== uid) {
    throw conflict(
      { ...TOKEN_REQUEST, name },
      `the UID in the token request (${wantedUid}) does not match the UID of the service account (${uid})`,
    );
  }
  const { maxTokenSeconds = asked } = call.cluster.settings;
  const lifetimeSeconds = Math.min(asked, maxTokenSeconds);
  const named = textsAt(spec, 'audiences');
  const audiences = named.length === 0 ? [ISSUER] : named;
  const { token, expiresAt } = call.cluster.tokens.issue({ account, audiences, lifetimeSeconds });
  const answer: JsonObject = {
    kind: 'TokenRequest',
    apiVersion: `${GROUP}/v1`,
    metadata: { name, namespace, uid, creationTimestamp: kubeTime(call.cluster.clock()) },
    spec: { audiences, expirationSeconds: lifetimeSeconds, boundObjectRef: null },
    status: { token, expirationTimestamp: kubeTime(expiresAt) },
  };
  const warning = `requested expiration of ${asked} seconds shortened to ${lifetimeSeconds} seconds`;
  return whole(answer, 201, lifetimeSeconds < asked ? { warning } : {});
}

function readSeconds(spec: JsonObject): number {
  const seconds = spec['expirationSeconds'] ?? DEFAULT_SECONDS;
  const refuse = (why: string): StatusError =>
    invalid(TOKEN_REQUEST, [invalidValue('spec.expirationSeconds', seconds, why)]);
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) throw refuse('must be an integer');
  if (seconds < MIN_SECONDS) throw refuse('may not specify a duration less than 10 minutes');
  if (seconds > MAX_SECONDS) throw refuse('may not specify a duration larger than 2^32 seconds');
  return seconds;
}
