// Figures in the text format that Prometheus reads (version 0.0.4). So few of them that writing them out costs less than
// a library and its registry; prom-client takes this file's place together with counters and histograms.

/** Of the answer that carries them. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A figure that may go up and down. */
export interface Gauge {
  /** `runtime_broker_…`, with its unit last. */
  readonly name: string;
  /** One line. */
  readonly help: string;
  readonly value: number;
}

export function renderGauges(gauges: readonly Gauge[]): string {
  return gauges
    .map(
      ({ name, help, value }) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`,
    )
    .join('');
}
