// What a route answers with, and what a request brings; the server writes the one and reads the other.

import type { JsonObject } from '../api/kube-object.ts';
import type { User } from '../api/user.ts';
import type { Cluster } from '../cluster.ts';

export interface ApiCall {
  readonly cluster: Cluster;
  readonly user: User;
  readonly method: string;
  /** Below the cluster's own path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Empty where it is absent. */
  readonly accept: string;
  /** Without parameters, in lower case; empty where it is absent. */
  readonly contentType: string;
  readonly body: Buffer;
  readonly metrics: string;
}

export interface WholeAnswer {
  readonly kind: 'whole';
  readonly status: number;
  readonly body: JsonObject | string;
  readonly contentType?: string;
  readonly warning?: string;
}

/** One JSON object a line until one side ends it. */
export interface StreamedAnswer {
  readonly kind: 'streamed';
  /** Called once; what it returns stops it. `end` may be called at once. */
  readonly start: (send: (line: JsonObject) => void, end: () => void) => () => void;
}

export type Answer = WholeAnswer | StreamedAnswer;

export function whole(
  body: JsonObject | string,
  status = 200,
  more: { readonly contentType?: string; readonly warning?: string } = {},
): WholeAnswer {
  return { kind: 'whole', status, body, ...more };
}
