// The body of a request, as JSON whatever form it came in.

import { isJsonObject, type JsonObject } from '../api/kube-object.ts';
import { badRequest, unsupportedMediaType } from '../api/status.ts';
import { decodeProtobuf, PROTOBUF } from '../protobuf/decode-protobuf.ts';
import type { ApiCall } from './answer.ts';

/** What curl sends unasked is read as JSON too, as kube-apiserver does with an absent type. */
const JSON_TYPES = ['', 'application/json'];

/** Throws a 415 or 400. */
export function readJsonBody(call: ApiCall): unknown {
  if (call.contentType === PROTOBUF) return decodeProtobuf(call.body);
  if (JSON_TYPES.includes(call.contentType)) return parseBody(call.body);
  throw unsupportedMediaType(['application/json', PROTOBUF]);
}

/** Throws a 400. */
export function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw badRequest('the object provided is unrecognized: the body is not JSON');
  }
}

/** An absent body is an empty object: DeleteOptions may be left out. */
export function readOptions(call: ApiCall): JsonObject {
  if (call.body.length === 0) return {};
  const options = readJsonBody(call);
  if (!isJsonObject(options)) throw badRequest('the body is no JSON object');
  return options;
}
