// The probes of an orchestrator. They need no credentials and say nothing that would.
import type { FastifyInstance } from 'fastify';

import { getHealthzRoute } from './get-healthz.ts';
import { getReadyzRoute } from './get-readyz.ts';
import type { ReadinessCheck } from '../../background/status.ts';

export function mountProbes(server: FastifyInstance, readiness: ReadinessCheck): void {
  getHealthzRoute(server);
  getReadyzRoute(server, readiness);
}
