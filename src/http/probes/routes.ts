// The probes of an orchestrator, and the figures for whoever watches. They need no credentials and say nothing that would.
import type { FastifyInstance } from 'fastify';

import { getHealthzRoute } from './get-healthz.ts';
import { getMetricsRoute } from './get-metrics.ts';
import { getReadyzRoute } from './get-readyz.ts';
import type { FiguresReading, ReadinessCheck } from '../../background/status.ts';

export interface ProbeParts {
  readonly readiness: ReadinessCheck;
  readonly figures: FiguresReading;
}

export function mountProbes(server: FastifyInstance, { readiness, figures }: ProbeParts): void {
  getHealthzRoute(server);
  getReadyzRoute(server, readiness);
  getMetricsRoute(server, figures);
}
