// What whoever starts a broker without a password of operators must be told, once: everything works but what they may
// ask only with credentials (docs/configuration.md, "Environment variables").
import type { Config } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';

export function tellClosedOperators(log: Logger, { operatorAuth }: Config): void {
  if (operatorAuth.kind === 'closed') {
    log.warn(
      'RUNTIME_BROKER_OPERATOR_PASSWORD is not set, so the operator routes that need credentials answer 401 to all',
    );
  }
}
