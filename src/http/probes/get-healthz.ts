// GET /healthz: the process runs and answers. Nothing else is asked, since a restart cures nothing else.
import type { FastifyInstance } from 'fastify';

export function getHealthzRoute(server: FastifyInstance): void {
  server.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
}
