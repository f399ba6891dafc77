// The OSB surface: its three mounts, what every request of it must pass, and its errors. Each endpoint is a file.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';

import type { UnmatchedRequest } from '../allowed-methods.ts';
import { answerFailure } from '../failures.ts';
import { goOnUnless, refuse } from '../refusal.ts';
import { bodyFault } from '../body-faults.ts';
import { deleteBindingRoute } from './delete-binding.ts';
import { deleteInstanceRoute } from './delete-instance.ts';
import { answerToFailure } from './errors.ts';
import { getBindingRoute } from './get-binding.ts';
import { getBindingOperationRoute } from './get-binding-operation.ts';
import { getCatalogRoute } from './get-catalog.ts';
import { getInstanceRoute } from './get-instance.ts';
import { getInstanceOperationRoute } from './get-instance-operation.ts';
import type { OsbParts } from './parts.ts';
import { patchInstanceRoute } from './patch-instance.ts';
import { type OsbPath, pathRefusal } from './path.ts';
import { preconditionRefusal } from './preconditions.ts';
import { putBindingRoute } from './put-binding.ts';
import { putInstanceRoute } from './put-instance.ts';

/** Plain OSB, and the two forms in which SAP's platforms name broker URLs, one with their region. */
const MOUNTS = ['/v2', '/oauth/v2', '/oauth/:region/v2'] as const;

const ROUTES = [
  getCatalogRoute,
  putInstanceRoute,
  getInstanceRoute,
  patchInstanceRoute,
  deleteInstanceRoute,
  getInstanceOperationRoute,
  putBindingRoute,
  getBindingRoute,
  deleteBindingRoute,
  getBindingOperationRoute,
];

/** @param answerUnmatched asked inside the mounts too, so that who is not known learns nothing from a wrong path */
export function mountOsb(
  server: FastifyInstance,
  parts: OsbParts,
  answerUnmatched: UnmatchedRequest,
): void {
  for (const prefix of MOUNTS) {
    void server.register(
      (scope, _options, done) => {
        scope.setNotFoundHandler((request, reply) => refuse(reply, answerUnmatched(request)));
        mountAt(scope, parts);
        done();
      },
      { prefix },
    );
  }
}

function mountAt(server: FastifyInstance, parts: OsbParts): void {
  const scope = server.withTypeProvider<TypeBoxTypeProvider>();
  scope.addHook('onRequest', (request, reply, done) => {
    goOnUnless(preconditionRefusal(parts.authenticator, request), reply, done);
  });
  scope.addHook('preValidation', (request, reply, done) => {
    goOnUnless(request.is404 ? undefined : pathRefusal(request.params as OsbPath), reply, done);
  });
  scope.setSchemaErrorFormatter(bodyFault);
  scope.setErrorHandler((error, request, reply) =>
    answerFailure(parts.log, error, { answer: answerToFailure(error), request, reply }),
  );
  for (const mountRoute of ROUTES) {
    mountRoute(scope, parts);
  }
}
