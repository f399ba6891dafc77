import { describe, expect, it } from 'vitest';
import { renderGauges } from './metrics.ts';

describe('gauges', () => {
  it('are written as Prometheus reads them, each with its help and type', () => {
    expect(
      renderGauges([
        { name: 'runtime_broker_a', help: 'What a is.', value: 0 },
        { name: 'runtime_broker_b', help: 'What b is.', value: 12 },
      ]),
    ).toBe(
      '# HELP runtime_broker_a What a is.\n# TYPE runtime_broker_a gauge\nruntime_broker_a 0\n' +
        '# HELP runtime_broker_b What b is.\n# TYPE runtime_broker_b gauge\nruntime_broker_b 12\n',
    );
  });

  it('are nothing where there are none', () => {
    expect(renderGauges([])).toBe('');
  });
});
