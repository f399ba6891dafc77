// The two listeners: the public one for platforms, the operator's for those who run the broker. What a surface says is
// in its own folder; here is what both have in common: limits, the form of errors, the log line of each request.
// Opening and closing the ports is the lifecycle's business.
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';

import type { Logger } from '../observability/logger.ts';
import { strangerRefusal } from './auth/stranger-refusal.ts';
import { learnRoutes, type UnmatchedRequest } from './allowed-methods.ts';
import { endConnectionsOnClose } from './end-connections.ts';
import { answerToConnectionError, answerToFrameworkError } from './framework-errors.ts';
import { gateRefusal, type IsServing } from './gate.ts';
import { MAX_BODY_BYTES, parseBodiesAsJson } from './json-body.ts';
import type { OsbParts } from './osb/parts.ts';
import { mountOsb } from './osb/routes.ts';
import { type CommandParts, mountCommands } from './operator/commands.ts';
import type { OperatorParts } from './operator/parts.ts';
import { mountOperator } from './operator/routes.ts';
import { mountProbes, type ProbeParts } from './probes/routes.ts';
import { goOnUnless, type HttpRefusal, refuse } from './refusal.ts';
import { echoRequestIdentity } from './request-identity.ts';
import { logAbandonedRequest, logRequest } from './request-log.ts';

export interface PublicServerParts extends OsbParts {
  readonly isServing: IsServing;
}

export function createPublicServer(parts: PublicServerParts): FastifyInstance {
  const { log, isServing, authenticator } = parts;
  const { server, answerUnmatched } = createServer({
    log,
    beforeAll: () => gateRefusal(isServing),
    beforeUnroutable: (request) => strangerRefusal(authenticator, request.headers),
  });
  mountOsb(server, parts, answerUnmatched);
  return server;
}

export interface OperatorServerParts extends OperatorParts, ProbeParts {
  /** Where commands of this machine are to ask this process, since it alone has the database. */
  readonly commands?: CommandParts;
}

export function createOperatorServer(parts: OperatorServerParts): FastifyInstance {
  const { log, commands } = parts;
  const { server } = createServer({ log, beforeAll: passes, beforeUnroutable: passes });
  mountProbes(server, parts);
  mountOperator(server, parts);
  if (commands !== undefined) {
    mountCommands(server, { ...parts, ...commands });
  }
  return server;
}

type Check = (request: FastifyRequest) => HttpRefusal | undefined;

const passes: Check = () => undefined;

interface ServerParts {
  readonly log: Logger;
  readonly beforeAll: Check;
  /** Asked on top where the URL cannot be decoded, so that no surface has the request. */
  readonly beforeUnroutable: Check;
}

/** Node's own limit of a request's head, and with it of what one part of a URL can have. */
const MAX_HEAD_BYTES = 16 * 1024;

/** A request is some kilobytes; who takes longer to send it holds a connection for nothing. */
const REQUEST_TIMEOUT_MS = 30_000;

interface BareServer {
  readonly server: FastifyInstance;
  readonly answerUnmatched: UnmatchedRequest;
}

function createServer({ log, beforeAll, beforeUnroutable }: ServerParts): BareServer {
  const server = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    // Its answer has another form. What arrives while the listener closes is served; the connection then ends.
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEAD_BYTES },
    routerOptions: { maxParamLength: MAX_HEAD_BYTES },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    clientErrorHandler: answerToConnectionError,
    frameworkErrors: (error, request, reply) => {
      echoRequestIdentity(request, reply);
      reply.raw.once('finish', () => logRequest(log, request, reply));
      refuse(
        reply,
        beforeAll(request) ?? beforeUnroutable(request) ?? answerToFrameworkError(error),
      );
    },
  });
  server.addHook('onRequest', (request, reply, done) => {
    echoRequestIdentity(request, reply);
    goOnUnless(beforeAll(request), reply, done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    logRequest(log, request, reply);
    done();
  });
  server.addHook('onRequestAbort', (request, done) => {
    logAbandonedRequest(log, request);
    done();
  });
  endConnectionsOnClose(server);
  passOverExpectations(server);
  parseBodiesAsJson(server);
  const answerUnmatched = learnRoutes(server);
  server.setNotFoundHandler((request, reply) => refuse(reply, answerUnmatched(request)));
  server.setErrorHandler((error, request, reply) => {
    const answer = answerToFrameworkError(error);
    if (answer.status >= 500) {
      log.error({ err: error, route: request.routeOptions.url }, 'a request failed');
    }
    return refuse(reply, answer);
  });
  return { server, answerUnmatched };
}

/**
 * An `Expect` that HTTP does not know: Node would answer 417 by itself, without the checks and in no form of ours. A
 * server may as well pass over it (RFC 9110, 10.1.1).
 */
function passOverExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (...request) => server.emit('request', ...request));
}
