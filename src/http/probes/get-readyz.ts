// GET /readyz: whether requests should be sent here, and if not, why (docs/api.md, "Probes").
import type { FastifyInstance } from 'fastify';

import type { ReadinessCheck } from '../../background/status.ts';

export function getReadyzRoute(server: FastifyInstance, readiness: ReadinessCheck): void {
  server.get('/readyz', async (_request, reply) => {
    const { checks, warnings } = await readiness();
    const isReady = Object.values(checks).every((check) => check === 'ok');
    const status = isReady ? 'ready' : 'not ready';
    return reply.code(isReady ? 200 : 503).send({ status, checks, warnings });
  });
}
