// Who is asking? One function answers, chosen by the configuration; a surface decides what it means.
import type { IncomingHttpHeaders } from 'node:http';

import type { Caller } from '../../domain/caller.ts';

export interface Authenticator {
  /** @returns undefined where the headers prove nothing */
  authenticate(headers: IncomingHttpHeaders): Caller | undefined;
  /** What a refused client is told to send (`WWW-Authenticate`). */
  readonly challenge: string;
}
