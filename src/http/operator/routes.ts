// The operators' surface: what every request of it must pass, and its errors. Each endpoint is a file, and one line of
// ROUTES. What needs no credentials is beside it (probes/).
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';

import { strangerRefusal } from '../auth/stranger-refusal.ts';
import { answerFailure } from '../failures.ts';
import { gateRefusal } from '../gate.ts';
import { type IdsInPath, idsRefusal } from '../ids-in-path.ts';
import { goOnUnless } from '../refusal.ts';
import { deleteBindingsRoute } from './delete-bindings.ts';
import { answerToFailure } from './errors.ts';
import { getBindingsRoute } from './get-bindings.ts';
import { getVersionRoute } from './get-version.ts';
import { orderFault } from './order.ts';
import type { OperatorParts } from './parts.ts';
import { postClusterGoneRoute } from './post-cluster-gone.ts';
import { postConfirmRestoreRoute } from './post-confirm-restore.ts';
import { postRetryRoute } from './post-retry.ts';

const ROUTES = [
  getVersionRoute,
  getBindingsRoute,
  postRetryRoute,
  postClusterGoneRoute,
  deleteBindingsRoute,
  postConfirmRestoreRoute,
];

export function mountOperator(server: FastifyInstance, parts: OperatorParts): void {
  const { authenticator, isServing, log } = parts;
  void server.register((plain, _options, done) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>();
    scope.addHook('onRequest', (request, reply, goOn) => {
      const refusal = gateRefusal(isServing) ?? strangerRefusal(authenticator, request.headers);
      goOnUnless(refusal, reply, goOn);
    });
    scope.addHook('preValidation', (request, reply, goOn) => {
      goOnUnless(idsRefusal(request.params as IdsInPath), reply, goOn);
    });
    scope.setSchemaErrorFormatter(orderFault);
    scope.setErrorHandler((error, request, reply) =>
      answerFailure(log, error, { answer: answerToFailure(error), request, reply }),
    );
    for (const mountRoute of ROUTES) {
      mountRoute(scope, parts);
    }
    done();
  });
}
