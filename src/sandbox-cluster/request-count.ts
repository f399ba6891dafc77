// Counts requests a cluster and method, as its /metrics shows them.

export class RequestCount {
  readonly #counts = new Map<string, Map<string, number>>();

  count(cluster: string, method: string): void {
    const counts = this.#counts.get(cluster) ?? new Map<string, number>();
    this.#counts.set(cluster, counts);
    counts.set(method, (counts.get(method) ?? 0) + 1);
  }

  /** In the text form of Prometheus. */
  render(cluster: string): string {
    const lines = [...(this.#counts.get(cluster) ?? [])].map(
      ([method, count]) => `apiserver_request_total{verb="${method}"} ${count}\n`,
    );
    return `# HELP apiserver_request_total Counter of requests since the start.\n# TYPE apiserver_request_total counter\n${lines.join('')}`;
  }
}
