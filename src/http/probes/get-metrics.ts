// GET /metrics: the figures of this installation, for Prometheus (docs/api.md, "Probes"). Each replica tells the same
// ones, since they are read from the database; while that is away there are none, and the scrape fails as it should.
import type { FastifyInstance } from 'fastify';

import type { FiguresReading } from '../../background/status.ts';
import { METRICS_CONTENT_TYPE, renderGauges } from '../../observability/metrics.ts';

export function getMetricsRoute(server: FastifyInstance, figures: FiguresReading): void {
  server.get('/metrics', async (_request, reply) => {
    const gauges = await figures();
    return gauges === undefined
      ? reply.code(503).type(METRICS_CONTENT_TYPE).send('')
      : reply.type(METRICS_CONTENT_TYPE).send(renderGauges(gauges));
  });
}
